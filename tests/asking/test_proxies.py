"""Proxies between `static/ask.py` and a model's server, the addresses of servers, and the headers of keys."""

import base64
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.asking import colour_site
from tests.asking.conftest import KEY, Call, answers, truth
from tests.asking.model_stub import ModelStub, status
from tests.services import missing
from tests.webapp.contrary import Contrary

NAMES = ("https_proxy", "http_proxy", "all_proxy", "no_proxy")
FAR = "models.example.test"


class ProxyStub:
    """An HTTP proxy: every name leads to one server. `answer` is sent instead if it is set."""

    def __init__(self, port: int) -> None:
        self.target, self.heads, self.answer = port, [], b""
        self.server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server.getsockname()[1]}"

    def close(self) -> None:
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(65536)
            if not piece:
                client.close()
                return
            head += piece
        self.heads.append(head.partition(b"\r\n\r\n")[0].decode())
        if self.answer:
            client.sendall(self.answer)
            client.close()
            return
        far = socket.create_connection(("127.0.0.1", self.target))
        if head.startswith(b"CONNECT"):
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            far.sendall(head)
        back = threading.Thread(target=pump, args=(far, client), daemon=True)
        back.start()
        pump(client, far)
        back.join()
        client.close()
        far.close()


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@pytest.fixture
def proxy(model: ModelStub) -> Iterator[ProxyStub]:
    with closing(ProxyStub(model.server_address[1])) as stub:
        yield stub


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http://", ""])
def test_a_server_is_asked_through_the_proxy(
    scheme: str, name: str, call: Call, model: ModelStub, proxy: ProxyStub, folder: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv(name, f"{scheme}{proxy.address}")
    check: Callable[..., Any] = model.check
    model.check = lambda path, headers, body: check(path.removeprefix(f"http://{FAR}"), headers, body)
    assert call("--base-url", f"http://{FAR}/v1") == 0
    assert answers(folder) == truth(8)
    first, *headers = proxy.heads[0].split("\r\n")
    assert first == f"POST http://{FAR}/v1/chat/completions HTTP/1.1" and f"Host: {FAR}" in headers
    assert f"to http://{FAR}/v1/chat/completions through the proxy {proxy.address}" in capsys.readouterr().err


def test_the_password_of_a_proxy_is_sent_to_it_and_shown_nowhere(
    call: Call, proxy: ProxyStub, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = base64.b64encode(b"me:pass word").decode()
    monkeypatch.setenv("http_proxy", f"http://me:pass%20word@{proxy.address}")
    proxy.answer = f"HTTP/1.1 500 Oh\r\nContent-Length: 99\r\n\r\n{packed} pass word".encode().ljust(160)
    assert call("--base-url", f"http://{FAR}/v1", "--retries", "0") == 1
    assert f"Proxy-Authorization: Basic {packed}" in proxy.heads[0].split("\r\n")
    text = "".join(capsys.readouterr()) + (folder / "replies.jsonl").read_text()
    assert packed not in text and "pass word" not in text and "pass%20word" not in text and "[key]" in text


@pytest.mark.parametrize("host", [
    "127.0.0.1", "localhost", "127.9.9.9", "[::1]", "LOCALHOST", "models.localhost", "0.0.0.0",
    "[::ffff:127.0.0.1]", "localhost.",
])  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_this_machine_is_never_asked_through_a_proxy(
    scheme: str, host: str, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES[:3]:
        monkeypatch.setenv(name, "http://proxy.example.test:3128")
    assert script.model_address(f"{scheme}://{host}:8000/v1").proxy is None
    assert str(script.model_address("http://example.test/v1").proxy) == "proxy.example.test:3128"


def test_a_site_on_this_machine_is_never_asked_through_a_proxy(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert call() == 0 and answers(folder) == truth(8)


@pytest.mark.parametrize(("names", "is_direct"), [
    (FAR, True), ("example.test", True), (".example.test", True), ("*", True), (f"other.test, {FAR}", True),
    ("other.test", False), ("le.test", False), ("10.0.0.0/8", False), ("", False),
])  # fmt: skip
def test_no_proxy_names_servers_that_are_asked_directly(
    names: str, is_direct: bool, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example.test:3128")
    monkeypatch.setenv("no_proxy", names)
    assert (script.model_address(f"https://{FAR}/v1").proxy is None) == is_direct


@pytest.mark.parametrize(("host", "is_direct"), [("10.1.2.3", True), ("11.1.2.3", False), ("[fd00::5]", True)])
def test_no_proxy_names_networks(host: str, is_direct: bool, script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example.test:3128")
    monkeypatch.setenv("no_proxy", "10.0.0.0/8,fd00::/8,nonsense/99")
    assert (script.model_address(f"https://{host}/v1").proxy is None) == is_direct


@pytest.mark.parametrize(
    "value", ["socks5://me:secret@127.0.0.1:1080", "https://p.example.test", "http://", "http://p:port", "ftp://p"]
)
def test_another_kind_of_proxy_is_refused(
    value: str, call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("https_proxy", value)
    assert call("--base-url", f"https://{FAR}/v1") == 2
    err = capsys.readouterr().err
    assert "Expected the address of an HTTP proxy" in err and "in the variable https_proxy" in err
    assert f"name {FAR} in the variable no_proxy" in err and "secret" not in err


@pytest.mark.parametrize("said", ["403 Forbidden", "407 Proxy Authentication Required"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_refuses_ends_the_run_and_is_named(
    scheme: str, said: str, call: Call, proxy: ProxyStub, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv(f"{scheme}_proxy", f"http://{proxy.address}")
    proxy.answer = f"HTTP/1.1 {said}\r\nContent-Length: 2\r\n\r\nno".encode()
    assert call("--base-url", f"{scheme}://{FAR}/v1") == 2
    err = capsys.readouterr().err
    assert f"through the proxy {proxy.address} refuses the request" in err and (scheme == "http" or said in err)


def test_a_proxy_that_is_not_there_is_named(
    call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    assert call("--base-url", f"https://{FAR}/v1", "--retries", "0") == 1
    assert "Connection refused (through the proxy 127.0.0.1:9)" in capsys.readouterr().err


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    if shutil.which("openssl") is None:
        missing("openssl", "apt install openssl")
    path = tmp_path / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-days", "2", "-subj", f"/CN={FAR}", "-addext", f"subjectAltName=DNS:{FAR}"]
    subprocess.run([*command, *names, "-keyout", path, "-out", tmp_path / "one.pem"], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + (tmp_path / "one.pem").read_bytes())
    return path


def test_a_server_with_tls_is_asked_through_a_tunnel(
    call: Call, site: Contrary, model: ModelStub, proxy: ProxyStub, folder: Path, certificate: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    model.socket = context.wrap_socket(model.socket, server_side=True)
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret-word@{proxy.address}")
    assert call("--base-url", f"https://{FAR}/v1", "--retries", "0") == 2  # the certificate is not known
    assert "CERTIFICATE_VERIFY_FAILED" in capsys.readouterr().err
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert call("--base-url", f"https://{FAR}/v1", "--resume") == 0
    assert answers(folder) == truth(8)
    assert proxy.heads[-1].startswith(f"CONNECT {FAR}:443 HTTP/1.")
    assert "Proxy-Authorization: Basic " in proxy.heads[-1] and KEY not in "".join(proxy.heads)


@pytest.mark.parametrize(("base", "path"), [
    ("/v1", "/v1/chat/completions"), ("/v1/", "/v1/chat/completions"), ("", "/chat/completions"),
    ("/v1/chat/completions", "/v1/chat/completions"), ("/v1/chat/completions/", "/v1/chat/completions"),
    ("/v1/responses", "/v1/responses"), ("/openai/v1", "/openai/v1/chat/completions"),
    ("/openai/deployments/e?api-version=2024-10-21", "/openai/deployments/e/chat/completions?api-version=2024-10-21"),
    ("/openai/deployments/e/chat/completions?api-version=1", "/openai/deployments/e/chat/completions?api-version=1"),
    ("/openai/responses?api-version=preview", "/openai/responses?api-version=preview"),
    ("/v1?provider=fast&region=eu", "/v1/chat/completions?provider=fast&region=eu"),
])  # fmt: skip
def test_the_path_of_an_interface_follows_from_the_address(base: str, path: str, script: Any) -> None:
    found = script.model_address(f"https://example.test{base}")
    assert found.target == path and found.shown == f"https://example.test{path}"
    assert found.interface == ("responses" if "/responses" in path else "chat")


def test_the_interface_can_be_chosen(script: Any) -> None:
    assert script.model_address("http://example.test/v1", "responses").target == "/v1/responses"
    assert script.model_address("http://example.test/v1/responses", "chat").target == "/v1/chat/completions"


@pytest.mark.parametrize(("base", "better"), [
    ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1"),
    ("https://g.example.test/v1beta/models/eye:generateContent", "https://g.example.test/v1beta/openai"),
    ("https://g.example.test/v1beta/models", "https://g.example.test/v1beta/openai"),
    ("https://g.example.test/v1beta", "https://g.example.test/v1beta/openai"),
    ("http://127.0.0.1:11434/api/chat", "http://127.0.0.1:11434/v1"),
    ("http://127.0.0.1:11434/api/generate", "http://127.0.0.1:11434/v1"),
    ("http://127.0.0.1:11434/api", "http://127.0.0.1:11434/v1"),
    ("http://127.0.0.1:8080/v1/completions", "http://127.0.0.1:8080/v1"),
])  # fmt: skip
def test_the_address_of_another_interface_names_the_one_to_use(
    base: str, better: str, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("--base-url", base) == 2
    assert capsys.readouterr().err.endswith(f"use --base-url {better}\n")


@pytest.mark.parametrize("name", ["key", "api_key", "API-KEY", "access_token", "sig", "password", "subscription-key"])
def test_no_key_may_stand_in_the_address(
    name: str, call: Call, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("--base-url", f"https://example.test/v1?{name}=0123456789") == 2
    err = capsys.readouterr().err
    assert f"got the parameter {name}" in err and "0123456789" not in err and model.asked == []


@pytest.mark.parametrize(("options", "header", "value"), [
    ((), "Authorization", f"Bearer {KEY}"), (("--key-header", "x-goog-api-key"), "x-goog-api-key", KEY),
    (("--key-header", "authorization"), "authorization", f"Bearer {KEY}"),
])  # fmt: skip
def test_the_key_is_sent_in_one_header(
    options: tuple[str, ...], header: str, value: str, call: Call, site: Contrary, model: ModelStub
) -> None:
    colour_site.fill(site, 1)
    heads: list[dict[str, str]] = []
    check: Callable[..., Any] = model.check
    model.check = lambda path, headers, body: (heads.append(dict(headers)), check(path, headers, body))[1]  # type: ignore[func-returns-value]
    assert call(*options) == 0
    assert {name: one for name, one in heads[0].items() if KEY in one} == {header: value}


@pytest.mark.parametrize("name", ["x y", "a:b", "é", "", "x\r\ny"])
def test_the_name_of_a_header_is_checked(name: str, call: Call, model: ModelStub) -> None:
    with pytest.raises(SystemExit):
        call("--key-header", name)
    assert model.asked == []


def test_a_missing_key_is_named(call: Call, model: ModelStub, capsys: pytest.CaptureFixture[str]) -> None:
    model.troubles.append(status(401, {"error": {"message": "Who are you?"}}))
    assert call() == 2
    assert "What to do: put the server's key into the variable that --key-from names." in capsys.readouterr().err
