"""Requests for exports on a page: the form, limits, estimated sizes, and who may list and download exports."""

import json
import shutil
from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.core.files.storage import default_storage
from django.forms import BoundField

from generation.access import Visitor, What, may_see, owns
from generation.engine import formats
from generation.engine.errors import BadExport, EngineError
from generation.engine.formats import Format, Option
from generation.exchange import export_jobs
from generation.exchange.exports import StoredDataset
from generation.models import Dataset, Export, Scene, Split
from generation.specs.estimates import GB, MB
from generation.storage import files, storage_quotas

UNFINISHED_EACH = 3  # limit of unfinished exports of an account
MEASURED = 12  # scenes whose pictures are measured to estimate the size of all pictures
QUESTION_BYTES, SCENE_BYTES = 1_100, 2_500  # bytes of text in the largest format, measured
TWICE = 2  # factor on the size, because the folder and its zip file exist together for a while

State = Export.State


class TooManyExports(EngineError):
    """An account has too many unfinished exports."""


def ask(
    dataset: Dataset,
    user: Any,
    *,
    name: str,
    splits: list[str],
    options: dict[str, Any],
    images: bool = True,
    view: str = Export.View.PUBLIC,
) -> Export:
    """Return the requested export: an unfinished or finished one with the same content if there is one, else a new one.

    Raises
    ------
    BadExport
        If a format, an option or a split is not possible, or if the disk has too little free space.
    TooManyExports
        If the account has too many unfinished exports.
    AccountFull
        If the account has too many exports, or if its storage is full.
    """
    values = formats.check_options(formats.find(name, dataset.get_world()), options)
    stored = StoredDataset(dataset, splits=splits, viewer=export_jobs.viewer_of(view), images=images)
    new = Export(
        dataset=dataset,
        user=user,
        view=view,
        format=name,
        splits=" ".join(splits),
        options=json.dumps(values, sort_keys=True),
        images=images,
        total=stored.scenes,
    )
    same = Export.objects.like(new).order_by("-pk").first()
    if same is not None:
        return same
    if Export.objects.unfinished().filter(user=user).count() >= UNFINISHED_EACH:
        raise TooManyExports(
            f"Expected at most {UNFINISHED_EACH} unfinished exports of yours, got one more. Wait until one is finished."
        )
    check_room(stored)
    if user is not None and user.is_authenticated:
        storage_quotas.check_exports(user, estimate(stored))
    new.save()
    export_jobs.RUNNER.wake()
    return new


def size_of(dataset: Dataset) -> int:
    return estimate(StoredDataset(dataset))


def estimate(stored: StoredDataset) -> int:
    """Return the estimated size of an export in bytes, from the first pictures and from measured sizes of text."""
    size = 0
    for split in stored.stored:
        size += split.questions * QUESTION_BYTES + split.scenes * SCENE_BYTES
        size += split.scenes * _picture_bytes(split.row) if split.images else 0
    return size


def _picture_bytes(split: Split) -> int:
    """Return the average size in bytes of a split's first pictures; 0 if none of them is found in the storage."""
    scenes = Scene.objects.filter(split=split.source, position__lt=MEASURED).exclude(image="")
    sizes = []
    for stored in scenes.values_list("image", flat=True):
        try:
            sizes.append(default_storage.size(stored))
        except FileNotFoundError:
            continue
    return sum(sizes) // len(sizes) if sizes else 0


def check_room(stored: StoredDataset) -> None:
    """Raise `BadExport` if the disk has too little free space to build an export."""
    room, needed = _room(), TWICE * estimate(stored)
    if needed > room:
        raise BadExport(
            f"Expected at least {needed / GB:,.1f} GB free to build the export, got {max(0, room) / GB:,.1f} GB "
            f"besides the {settings.DISK_RESERVE_GB:g} GB that are kept free. Choose fewer splits, or no pictures."
        )


def _room() -> int:
    home = export_jobs.drafts_folder()
    while not home.exists():
        home = home.parent
    return shutil.disk_usage(home).free - int(settings.DISK_RESERVE_GB * files.GIB)


def may_have(user: Visitor, export: Export, *, splits: Sequence[Split] | None = None) -> bool:
    """Return whether this user may download an export's file, because the user may now see everything that it shows.

    An export with the owner's view of the dataset is only for the owner and staff. `splits` are the dataset's splits,
    if the caller has them.
    """
    is_owner = owns(user, export.dataset)
    if export.view != Export.View.PUBLIC and not is_owner:
        return False
    found = export.dataset.splits.select_related("dataset", "parent") if splits is None else splits
    known, shown = {split.name: split for split in found}, export.shown_kinds
    if not shown or not set(shown) <= set(known):
        return is_owner
    return all(may_see(user, known[name], What(what)) for name, kinds in shown.items() for what in kinds)


def may_list(user: Visitor, export: Export, *, splits: Sequence[Split] | None = None) -> bool:
    """Return whether a list may show an export to this user.

    The owner of the dataset and staff see all exports. Others see public exports that they requested themselves, and
    finished ones that they may download.
    """
    if owns(user, export.dataset):
        return True
    if export.view != Export.View.PUBLIC:
        return False
    is_own = user.is_authenticated and export.user_id == user.pk
    return is_own or (export.state == State.DONE and may_have(user, export, splits=splits))


def may_manage(user: Visitor, export: Export) -> bool:
    return owns(user, export.dataset) or (user.is_authenticated and export.user_id == user.pk)


def size_in_words(size: int) -> str:
    return f"{size / GB:,.1f} GB" if size >= GB else f"{max(1, round(size / MB)):,} MB"


VIEWS = {
    Export.View.PUBLIC: "what everybody may see; everybody who may open the dataset may download it",
    Export.View.ALL: "everything, with withheld answers; only you and staff may download it",
}


class FormatChoice(NamedTuple):
    format: Format
    is_chosen: bool
    options: list[BoundField]


class ExportForm(forms.Form):
    """The form of a request. Options are fields named `format.option`; options of other formats are ignored."""

    format = forms.ChoiceField()
    splits = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, required=False, label="Splits")
    images = forms.BooleanField(required=False, initial=True, label="With pictures")
    view = forms.ChoiceField(widget=forms.RadioSelect, choices=list(VIEWS.items()), label="Content")

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
    def choices(self) -> list[FormatChoice]:
        """Return the formats with the form fields of their options."""
        chosen = self["format"].value()
        return [
            FormatChoice(each, each.name == chosen, [self[f"{each.name}.{option.name}"] for option in each.options])
            for each in self.known
        ]

    def clean_splits(self) -> list[str]:
        """Return the chosen splits, or an empty list if they are exactly the splits that are not derived.

        An empty list means these splits.
        """
        chosen = self.cleaned_data["splits"]
        if not chosen:
            raise forms.ValidationError("Expected at least one split, got none.")
        return [] if chosen == self.own else chosen

    def wanted(self) -> dict[str, Any]:
        """Return the data of the form as arguments for `ask`."""
        told = self.cleaned_data
        format_ = next(each for each in self.known if each.name == told["format"])
        return {
            "name": format_.name,
            "splits": told["splits"],
            "options": {
                option.name: told[f"{format_.name}.{option.name}"] or _empty_value(option) for option in format_.options
            },
            "images": told.get("images", True),
            "view": told.get("view", Export.View.PUBLIC),
        }


def _empty_value(option: Option) -> bool | str:
    return option.default if option.choices else type(option.default)()


def _field_of(option: Option) -> forms.Field:
    """Return the form field of a format's option."""
    about = option.about[:1].upper() + option.about[1:]
    if isinstance(option.default, bool):
        return forms.BooleanField(required=False, initial=option.default, label=about)
    if option.choices:
        choices = [(one, one) for one in option.choices]
        return forms.ChoiceField(required=False, choices=choices, initial=option.default, label=about)
    return forms.CharField(required=False, max_length=200, initial=option.default, label=about)
