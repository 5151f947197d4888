"""The address of the model's server, and its path for an interface."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from typing import NamedTuple

from generation.asking.console import Refused, printable
from generation.asking.exchanges import parts_of_address
from generation.asking.proxies import Proxy, proxy_for

# Addresses of other interfaces of the same servers, and the path of the one that is meant.
OTHER_PATHS: Mapping[str, str] = {
    r"/messages": "",  # Anthropic's own
    r"/v1(?:alpha|beta)?/models(?:/.*)?": "/v1beta/openai",  # Gemini's own
    r"/v1(?:alpha|beta)": "/v1beta/openai",
    r"/api(?:/chat|/generate)?": "/v1",  # Ollama's own
    r"(?<!/chat)/completions": "",
    r"/models": "",
}
OTHER_PATH = tuple((re.compile(rf"(?:{pattern})/*$"), other) for pattern, other in OTHER_PATHS.items())
SECRET_NAME = re.compile(r"key|token|secret|passw|^sig(?:nature)?$|^auth", re.IGNORECASE)
CHAT_PATH, RESPONSES_PATH = "/chat/completions", "/responses"
CHAT_INTERFACE, RESPONSES_INTERFACE = INTERFACES = ("chat", "responses")


class ModelAddress(NamedTuple):
    """Where requests go: `target` is the path with the query."""

    scheme: str
    host: str
    port: int | None
    target: str
    shown: str
    interface: str
    proxy: Proxy | None

    @property
    def has_api_version(self) -> bool:
        # Azure's addresses have it; keys are in a header of their own there.
        return "api-version=" in self.target.partition("?")[2]


def model_address(base_url: str, interface: str | None = None) -> ModelAddress:
    """Return where requests go for a --base-url; raise `Refused` for other texts.

    Without `interface`, an address that ends in /responses has the interface of that name, and others that of chats.
    """
    parts = parts_of_address(base_url)
    if parts is None or parts.hostname is None or parts.fragment:
        raise Refused(
            "Expected an address such as http://127.0.0.1:8000/v1 as --base-url, without keys and passwords: "
            "these come from environment variables."
        )
    secret = [name for name, _ in urllib.parse.parse_qsl(parts.query, True) if SECRET_NAME.search(name)]
    if secret:
        raise Refused(
            f"Expected no key in --base-url, got the parameter {printable(secret[0])}: put the key into the variable "
            "that --key-from names, and leave the parameter out."
        )
    path = parts.path.rstrip("/")
    found = interface or (RESPONSES_INTERFACE if path.endswith(RESPONSES_PATH) else CHAT_INTERFACE)
    for known in (CHAT_PATH, RESPONSES_PATH):
        path = path[: -len(known)] if path.endswith(known) else path
    check_path(parts, path)
    path += CHAT_PATH if found == CHAT_INTERFACE else RESPONSES_PATH
    target = f"{path}?{parts.query}" if parts.query else path
    shown = f"{parts.scheme}://{parts.netloc}{target}"
    return ModelAddress(parts.scheme, parts.hostname, parts.port, target, shown, found, proxy_for(base_url))


def check_path(parts: urllib.parse.SplitResult, path: str) -> None:
    """Raise `Refused` for the address of another interface, and name the one to use."""
    for pattern, other in OTHER_PATH:
        start = pattern.search(path)
        if start is not None:
            better = f"{parts.scheme}://{parts.netloc}{path[: start.start()]}{other}"
            raise Refused(
                f"Expected an address with the interface of OpenAI, got {printable(parts.path)} of another interface: "
                f"use --base-url {printable(better)}"
            )
