"""Withheld answers: what stands in public from the start, and the update that opens them for good."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db import transaction
from django.db.models.functions import Now

from generation.access import Visitor, What, may_see
from generation.models import Dataset, Split


class WithheldSplit(NamedTuple):
    """A split that withholds its answers, or did.

    Attributes
    ----------
    split : Split
    secret : str
        What its chance was drawn from, as hexadecimal digits; empty for those who may not know it.
    """

    split: Split
    secret: str


def guarded(user: Visitor, splits: Iterable[Split]) -> list[WithheldSplit]:
    """Return the splits that withhold their own answers, or did, with the secrets that this visitor may know.

    Whoever knows the secret can make the split again: it is shown to those who may see its answers.
    """
    return [
        WithheldSplit(split, split.secret if may_see(user, split, What.ANSWER) else "")
        for split in splits
        if (split.withheld or split.secret) and not split.is_derived
    ]


def open_answers(split: Split) -> bool:
    """Return whether this call opened the answers of a complete split; of several at once, one does.

    Those of the splits derived from it open with them.
    """
    withheld = Split.objects.filter(pk=split.pk, withheld=True, state=Split.State.COMPLETE)
    with transaction.atomic():
        list(Dataset.objects.select_for_update().filter(pk=split.dataset_id))  # nobody derives another meanwhile
        opened = withheld.update(withheld=False, opened=Now()) == 1
        if opened:
            Split.objects.filter(parent=split.pk, withheld=True).update(withheld=False, opened=Now())
    return opened
