"""The form in which an export is asked for: format, its options, splits, pictures, and for the owner whose view."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms
from django.forms import BoundField

from generation.engine import formats
from generation.engine.formats import Format, Option
from generation.models import Dataset, Export, Split

VIEWS = {
    Export.View.PUBLIC: "what everybody may see: whoever may open the dataset may download it",
    Export.View.ALL: "everything, withheld answers too: only you and staff may download it",
}


class Choice(NamedTuple):
    """A format as the page offers it, with the fields of its options."""

    format: Format
    is_chosen: bool
    options: list[BoundField]


class ExportForm(forms.Form):
    """What is asked for. Options are fields named `format.option`; those of formats not chosen are ignored."""

    format = forms.ChoiceField()
    splits = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, required=False, label="Splits")
    images = forms.BooleanField(required=False, initial=True, label="With images")
    view = forms.ChoiceField(widget=forms.RadioSelect, choices=list(VIEWS.items()), label="What is in it")

    def __init__(self, data: Any = None, *, dataset: Dataset, splits: Sequence[Split], is_owner: bool) -> None:
        self.known = [formats.find(name, dataset.get_world()) for name in formats.names(dataset.get_world())]
        own = [split.name for split in splits if not split.is_derived]
        first = self.known[0].name
        super().__init__(data, initial={"format": first, "splits": own, "view": Export.View.PUBLIC}, prefix=None)
        self.own = own
        self.fields["format"].choices = [(each.name, each.label) for each in self.known]  # type: ignore[attr-defined]
        self.fields["splits"].choices = [(split.name, split.name) for split in splits]  # type: ignore[attr-defined]
        for each in self.known:
            for option in each.options:
                self.fields[f"{each.name}.{option.name}"] = _field_of(option)
        if not is_owner:
            del self.fields["view"]
        if not dataset.with_images:
            del self.fields["images"]

    @property
    def choices(self) -> list[Choice]:
        """Return the formats with their options' fields."""
        chosen = self["format"].value()
        return [
            Choice(each, each.name == chosen, [self[f"{each.name}.{option.name}"] for option in each.options])
            for each in self.known
        ]

    def clean_splits(self) -> list[str]:
        """Return the chosen splits; none where all that are not derived are, which is what an empty list means."""
        chosen = self.cleaned_data["splits"]
        if not chosen:
            raise forms.ValidationError("Expected one split at least, got none.")
        return [] if chosen == self.own else chosen

    def wanted(self) -> dict[str, Any]:
        """Return what the form asks for, as `export_jobs.ask` takes it."""
        told = self.cleaned_data
        format_ = next(each for each in self.known if each.name == told["format"])
        return {
            "name": format_.name,
            "splits": told["splits"],
            "options": {
                option.name: told[f"{format_.name}.{option.name}"] or _nothing(option) for option in format_.options
            },
            "images": told.get("images", True),
            "view": told.get("view", Export.View.PUBLIC),
        }


def _nothing(option: Option) -> bool | str:
    """Return what an option is whose field was left empty."""
    return option.default if option.choices else type(option.default)()


def _field_of(option: Option) -> forms.Field:
    """Return the field of a format's option."""
    about = option.about[:1].upper() + option.about[1:]
    if isinstance(option.default, bool):
        return forms.BooleanField(required=False, initial=option.default, label=about)
    if option.choices:
        choices = [(one, one) for one in option.choices]
        return forms.ChoiceField(required=False, choices=choices, initial=option.default, label=about)
    return forms.CharField(required=False, max_length=200, initial=option.default, label=about)
