"""A small browser for running sites: it keeps cookies, signs in, and sends forms with files."""

import urllib.error
import urllib.request
from collections.abc import Sequence
from http.cookiejar import CookieJar
from typing import NamedTuple, Protocol
from urllib.parse import urlencode

BOUNDARY = "part-of-a-test"
ACCOUNT = """
from webapp.models import LoginLink, User
user = User.objects.create_user("grace", is_staff=True, is_superuser=True)
print(LoginLink.objects.make(user))
"""


class File(NamedTuple):
    """A file that is sent in a field of a form."""

    field: str
    name: str
    content: bytes


class Host(Protocol):
    """A host of a site: the address at which a browser reaches it, and a way to run Python code inside the site."""

    @property
    def address(self) -> str:
        """Return the address, such as http://127.0.0.1:8000."""

    def python(self, code: str) -> str:
        """Run code and return its output."""


class Browser:
    """A browser that may send each request to another host; all hosts get the same cookies."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self.hosts, self.cookies = hosts, CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        self.address = ""

    def ask(
        self, host: int, path: str, form: dict[str, str] | None = None, files: Sequence[File] = ()
    ) -> tuple[int, str]:
        """Return the status and the body of a page; `address` becomes its address after redirects."""
        request = urllib.request.Request(self.hosts[host].address + path)
        if form is not None:
            token = next((cookie.value for cookie in self.cookies if cookie.name == "csrftoken"), None) or ""
            request.add_header("X-CSRFToken", token)
            request.data = multipart(form, files) if files else urlencode(form).encode()
            kind = f"multipart/form-data; boundary={BOUNDARY}" if files else "application/x-www-form-urlencoded"
            request.add_header("Content-Type", kind)
        try:
            with self.opener.open(request, timeout=60) as answer:
                self.address = answer.geturl()
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def sign_in(self) -> None:
        """Create a researcher's account and sign in with it."""
        path = f"/login/{self.hosts[0].python(ACCOUNT).strip()}/"
        assert self.ask(0, path)[0] == 200
        assert self.ask(0, path, {})[0] == 200


def multipart(form: dict[str, str], files: Sequence[File]) -> bytes:
    """Return the body of a form with files."""
    parts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode() for name, value in form.items()]
    for field, name, content in files:
        parts.append(f'Content-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'.encode() + content)
    return b"".join(f"--{BOUNDARY}\r\n".encode() + part + b"\r\n" for part in parts) + f"--{BOUNDARY}--\r\n".encode()
