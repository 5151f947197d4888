"""How somebody signs in with a password."""

from typing import Any

from allauth.account.forms import LoginForm


class SignInForm(LoginForm):
    """allauth's form, which says beside its first field what belongs there."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["login"].label = "Username or email"
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
