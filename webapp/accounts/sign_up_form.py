"""The form for making an account."""

from typing import Any

from allauth.account.forms import SignupForm
from django.http import HttpRequest


class SignUpForm(SignupForm):
    """allauth's form; it makes an account whether or not another account has the same address.

    Otherwise a visitor could find out which addresses have accounts: the name of an account that was not made stays
    free, and nobody can sign in to it. An address belongs to the first account that confirms it.
    """

    def try_save(self, request: HttpRequest) -> tuple[Any, Any]:
        self.account_already_exists = False
        return super().try_save(request)
