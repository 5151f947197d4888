"""The account adapter for allauth: it decides who may create an account, and sends the mails about accounts."""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.userkit import filter_users_by_email
from allauth.account.models import EmailAddress
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
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

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Send the link that confirms an address; if another account has this address already, say so instead.

        Only the mail says so, because only the owner of the address may know which addresses have accounts.
        """
        address: EmailAddress = emailconfirmation.email_address
        if address.can_set_verified():
            super().send_confirmation_mail(request, emailconfirmation, signup)
        else:
            self.send_account_already_exists_mail(address.email)

    def format_email_subject(self, subject: str) -> str:
        name = urlsplit(settings.PUBLIC_URL).netloc
        return f"[{name}] {subject}" if name else super().format_email_subject(subject)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        # Failed sign-ins are counted per account, and not per host of the request.
        return f"login:{(credentials.get('email') or credentials.get('username') or '').lower()}"


class ProviderAccountAdapter(DefaultSocialAccountAdapter):
    """The adapter for people who sign in with an OpenID Connect provider."""

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return whether an account is made without a form.

        On a site without mail, a person whose address has an account already sees the form, in which they can stop and
        sign in to that account. This tells them about an address that the provider says is theirs.
        """
        has_mail = settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory"
        if not has_mail and any(filter_users_by_email(address.email) for address in sociallogin.email_addresses):
            return False
        return bool(super().is_auto_signup_allowed(request, sociallogin))


def at_public_url(address: str) -> str:
    """Return an address of this site with PUBLIC_URL as its beginning; unchanged if PUBLIC_URL is not set."""
    if not settings.PUBLIC_URL:
        return address
    parts = urlsplit(address)
    return settings.PUBLIC_URL + urlunsplit(("", "", parts.path, parts.query, parts.fragment))
