"""A small OpenID Connect provider that runs in tests: authorization code flow with PKCE, tokens signed with RS256."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "horsesense", "a client's secret"
KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2048)


@dataclass
class Provider:
    """The state of the provider: the person who is signed in, whether this person agrees, and the requests so far."""

    url: str = ""
    person: dict[str, Any] = field(
        default_factory=lambda: {
            "sub": "1815",
            "preferred_username": "ada",
            "email": "ada@example.org",
            "email_verified": True,
            "given_name": "Ada",
            "family_name": "Lovelace",
        }
    )
    agrees: bool = True
    asked: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    troubles: list[str] = field(default_factory=list)

    def settings(self) -> dict[str, Any]:
        """Return the site's settings for this provider."""
        app = {
            "provider_id": "main",
            "name": "Analytical Society",
            "client_id": CLIENT,
            "secret": SECRET,
            "settings": {"server_url": self.url},
        }
        return {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}

    def discovery(self) -> dict[str, Any]:
        """Return the content of /.well-known/openid-configuration."""
        places = {name: f"{self.url}/{name}" for name in ("authorize", "token", "userinfo", "jwks")}
        return {
            "issuer": self.url,
            "authorization_endpoint": places["authorize"],
            "token_endpoint": places["token"],
            "userinfo_endpoint": places["userinfo"],
            "jwks_uri": places["jwks"],
            "response_types_supported": ["code"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        }

    def authorize(self, query: str) -> str:
        """Return the address of the site to which the person is redirected, with a code or with an error."""
        wanted = dict(parse_qsl(query))
        self.asked.append(wanted)
        back = {"state": wanted["state"]}
        if self.agrees:
            code = secrets.token_urlsafe(8)
            self.codes[code] = wanted
            back["code"] = code
        else:
            back["error"] = "access_denied"
        return f"{wanted['redirect_uri']}?{urlencode(back)}"

    def token(self, body: str) -> tuple[int, dict[str, Any]]:
        """Return status and body of a request for tokens.

        A code is valid once, and only with the PKCE verifier and the client's secret.
        """
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        began = self.codes.pop(sent.get("code", ""), {})
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        proven = began.get("code_challenge") == challenge and began.get("code_challenge_method") == "S256"
        known = (sent.get("client_id"), sent.get("client_secret")) == (CLIENT, SECRET)
        if not (proven and known and sent.get("redirect_uri") == began["redirect_uri"]):
            self.troubles.append(body)
            return 400, {"error": "invalid_grant"}
        access = secrets.token_urlsafe(8)
        self.tokens.add(access)
        return 200, {"access_token": access, "token_type": "Bearer", "expires_in": 60, "id_token": self._id_token()}

    def _id_token(self) -> str:
        now = int(time.time())
        claims = {**self.person, "iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60}
        return jwt.encode(claims, KEY, algorithm="RS256", headers={"kid": "one"})

    def jwks(self) -> dict[str, Any]:
        """Return the public key of the tokens' signatures."""
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
        return {"keys": [{**key, "kid": "one", "use": "sig", "alg": "RS256"}]}


@contextmanager
def running() -> Iterator[Provider]:
    """Give a provider that listens on a port of this machine."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(parts.query))
                self.end_headers()
            elif parts.path == "/.well-known/openid-configuration":
                self._send(200, provider.discovery())
            elif parts.path == "/jwks":
                self._send(200, provider.jwks())
            elif parts.path == "/userinfo" and self.headers["Authorization"].split()[-1] in provider.tokens:
                self._send(200, provider.person)
            else:
                self._send(404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._send(*(provider.token(body) if self.path == "/token" else (404, {})))

        def _send(self, status: int, content: dict[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield provider
    server.shutdown()
    server.server_close()
    thread.join()
