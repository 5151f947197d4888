"""Authentication of the API by token or session, anonymous access, and the rate limit."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from annotations.answering.throttle import Throttle
from generation.site_addresses import network_of
from webapp.api.errors import BEARER, NO_TOKEN, Problem, too_many
from webapp.models import ApiToken, User

REQUESTS, SPAN = 1200, 60.0  # per account, or per address for anonymous requests (for IPv6, per network of /64)
throttle = Throttle(REQUESTS, SPAN, name="api")


class Token(HttpBearer):
    """An API token in the header; it takes precedence over a session cookie."""

    def __call__(self, request: HttpRequest) -> User | None:
        """Return the token's account, or None if no token was sent; refuse an invalid token."""
        sent = request.headers.get("Authorization", "").strip()
        if not sent:
            return None
        scheme, _, token = sent.partition(" ")
        if scheme.lower() != "bearer":
            raise Problem(401, "Expected the header Authorization: Bearer hs_..., got another.", headers=BEARER)
        return self.authenticate(request, token.strip())

    def authenticate(self, request: HttpRequest, token: str) -> User:
        """Return the account of a token, and make it the user of the request."""
        found = ApiToken.objects.usable(token).first()
        if found is None:
            _count(throttle_key_of(request))
            message = "Expected a token of an active account, got one that is unknown or revoked."
            raise Problem(401, message, code="unknown_token", headers=BEARER)
        found.note_use()
        request.user = found.user
        _count(f"account {found.user.pk}")
        return found.user


class Session(APIKeyCookie):
    """The session of a browser; requests that change something need the CSRF token too."""

    param_name = "sessionid"

    def __call__(self, request: HttpRequest) -> User | None:
        """Return the account that is signed in, or None."""
        user = self.authenticate(request, None)
        if user is not None and check_csrf(request) is not None:
            raise Problem(403, "Expected the header X-CSRFToken with the CSRF token of the page.", code="csrf")
        return user

    def authenticate(self, request: HttpRequest, key: str | None) -> User | None:
        """Return the account that is signed in, or None."""
        if not isinstance(request.user, User):
            return None
        _count(f"account {request.user.pk}")
        return request.user


def anybody(request: HttpRequest) -> Any:
    _count(throttle_key_of(request))
    request.user = AnonymousUser()
    return request.user


def refuse_strangers(request: HttpRequest, **_: Any) -> HttpResponse | None:
    """Return a refusal if an upload comes without an account; this is a check for `takes_uploads`."""
    try:
        user = Token()(request) or request.user
    except Problem as problem:
        return problem.response
    return None if user.is_authenticated else Problem(401, NO_TOKEN, headers=BEARER).response


def throttle_key_of(request: HttpRequest) -> str:
    return f"address {network_of(request.META.get('REMOTE_ADDR', ''))}"


def _count(who: str) -> None:
    wait = throttle.wait(who)
    if wait:
        raise too_many(f"Expected at most {throttle.most} requests in {throttle.span:g} seconds, got more.", wait=wait)


ACCOUNTS: list[Callable[..., Any]] = [Token(), Session()]
EVERYBODY: list[Callable[..., Any]] = [*ACCOUNTS, anybody]
