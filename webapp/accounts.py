"""Who may make an account."""

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):
    """Accounts as allauth makes them, unless this site has closed its sign-up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether visitors may make accounts."""
        return settings.SIGNUP
