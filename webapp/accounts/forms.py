"""Forms about accounts: the user's name, a new API token, the account of a sign-in link."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Q

from webapp.models import TOKENS_EACH, ApiToken, User

if TYPE_CHECKING:
    Base = forms.ModelForm[User]
else:
    Base = forms.ModelForm


class NameForm(Base):
    class Meta:
        model = User
        fields = ("first_name", "last_name")


class TokenForm(forms.Form):
    """A new API token and its purpose."""

    name = forms.CharField(
        label="What is the token for?",
        max_length=100,
        help_text="A name by which you recognise the token, for example the computer that uses it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def clean(self) -> dict[str, Any] | None:
        if ApiToken.objects.of(self.user).count() >= TOKENS_EACH:
            raise forms.ValidationError(f"Expected at most {TOKENS_EACH} tokens, got one more. Revoke one first.")
        return super().clean()


class SignInLinkForm(forms.Form):
    """The account of a sign-in link."""

    account = forms.CharField(
        label="Username or email",
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, by: User, **options: Any) -> None:
        super().__init__(*args, **options)
        self.by = by

    def clean_account(self) -> User:
        """Return the account; refuse an account that is missing or not active, or is staff unless a superuser asks."""
        said = self.cleaned_data["account"]
        found = list(User.objects.filter(Q(username=said) | Q(email__iexact=said), is_active=True)[:2])
        if len(found) != 1:
            came = "several accounts with that email" if found else repr(said)
            raise forms.ValidationError(f"Expected the username or email of an active account, got {came}.")
        if (found[0].is_staff or found[0].is_superuser) and not self.by.is_superuser:
            raise forms.ValidationError(
                "Expected an account that is not staff, because only superusers may make links for staff."
            )
        return found[0]
