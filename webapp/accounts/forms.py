"""Forms about accounts: one's own name, a new token, for whom a sign-in link is."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Q

from webapp.models import TOKENS_EACH, ApiToken, User

if TYPE_CHECKING:
    Base = forms.ModelForm[User]
else:
    Base = forms.ModelForm


class NameForm(Base):
    """How somebody wants to be named."""

    class Meta:
        """Which fields are asked for."""

        model = User
        fields = ("first_name", "last_name")


class TokenForm(forms.Form):
    """A new API token: what it is for."""

    name = forms.CharField(
        label="What is it for?",
        max_length=100,
        help_text="A word by which you know it again, such as the machine it is used on.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def clean(self) -> dict[str, Any] | None:
        """Return what was sent; refuse one token more than an account may have."""
        if ApiToken.objects.of(self.user).count() >= TOKENS_EACH:
            raise forms.ValidationError(f"Expected at most {TOKENS_EACH} tokens, got one more. Revoke one first.")
        return super().clean()


class SignInLinkForm(forms.Form):
    """For whom a sign-in link is."""

    account = forms.CharField(
        label="Username or email",
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, by: User, **options: Any) -> None:
        super().__init__(*args, **options)
        self.by = by

    def clean_account(self) -> User:
        """Return the account; refuse one that isn't there, is closed, or may do more than who asks."""
        said = self.cleaned_data["account"]
        found = list(User.objects.filter(Q(username=said) | Q(email__iexact=said), is_active=True)[:2])
        if len(found) != 1:
            came = "several of that email" if found else repr(said)
            raise forms.ValidationError(f"Expected the username or email of an open account, got {came}.")
        if (found[0].is_staff or found[0].is_superuser) and not self.by.is_superuser:
            raise forms.ValidationError("Expected an account that is not staff: only superusers make links for staff.")
        return found[0]
