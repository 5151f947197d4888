"""The form for signing in with a password."""

from typing import Any

from allauth.account.forms import LoginForm


class SignInForm(LoginForm):
    """allauth's form with a label for its first field, and without placeholders."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["login"].label = "Username or email"
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
