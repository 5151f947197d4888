"""Forms for the reason of an exclusion or withdrawal, and for a platform's export of submissions."""

from typing import Any

from django import forms

from annotations.models import Baseline, Participant
from annotations.results.payment import PlatformRow, read_export
from annotations.results.platform_file import BadPlatformFile

LARGEST = 5 * 2**20  # bytes; a row has about 300 bytes


class ReasonForm(forms.Form):
    """The reason why a participant's answers are excluded."""

    reason = forms.CharField(
        max_length=Participant._meta.get_field("reason").max_length,
        error_messages={"required": "Expected a reason, got none. The text for a paper will contain it."},
    )


class WithdrawForm(forms.Form):
    """The reason why a published human baseline is withdrawn."""

    reason = forms.CharField(
        label="Why it is withdrawn",
        max_length=Baseline._meta.get_field("reason").max_length,
        help_text="Visitors see this reason instead of the figures.",
        error_messages={"required": "Expected a reason, got none. Visitors see it instead of the figures."},
    )


class PaymentForm(forms.Form):
    """A platform's export of submissions, as a file."""

    file = forms.FileField(
        label="Prolific’s export",
        help_text="A CSV file of submissions, as exported or as a spreadsheet saved it. It is read, but not stored.",
    )

    def clean_file(self) -> list[PlatformRow]:
        file: Any = self.cleaned_data["file"]
        if file.size > LARGEST:
            raise forms.ValidationError(f"Expected at most {LARGEST // 2**20} MB, got {file.size / 2**20:.0f} MB.")
        try:
            return read_export(file.read())
        except BadPlatformFile as error:
            raise forms.ValidationError(error.reason) from error
