"""The account adapter for allauth: it decides who may create an account, and sends the mails about accounts."""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):
    """The adapter with this site's settings: sign-up may be closed, and links in mails begin with PUBLIC_URL."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return settings.SIGNUP

    def get_reset_password_from_key_url(self, key: str) -> str:
        return at_public_url(super().get_reset_password_from_key_url(key))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return at_public_url(super().get_email_confirmation_url(request, emailconfirmation))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        name = urlsplit(settings.PUBLIC_URL).netloc
        named = {"current_site": {"name": name, "domain": name}} if name else {}
        super().send_mail(template_prefix, email, named | context)

    def format_email_subject(self, subject: str) -> str:
        name = urlsplit(settings.PUBLIC_URL).netloc
        return f"[{name}] {subject}" if name else super().format_email_subject(subject)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        # Failed sign-ins are counted per account, and not per host of the request.
        return f"login:{(credentials.get('email') or credentials.get('username') or '').lower()}"


def at_public_url(address: str) -> str:
    """Return an address of this site with PUBLIC_URL as its beginning; unchanged if PUBLIC_URL is not set."""
    if not settings.PUBLIC_URL:
        return address
    parts = urlsplit(address)
    return settings.PUBLIC_URL + urlunsplit(("", "", parts.path, parts.query, parts.fragment))
