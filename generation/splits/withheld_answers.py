"""Withheld answers: the facts that are public from the start, and the update that opens the answers for good."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db import transaction
from django.db.models.functions import Now

from generation.access import Visitor, What, may_see
from generation.models import Dataset, Split


class WithheldSplit(NamedTuple):
    """A split whose answers are withheld, or were.

    Attributes
    ----------
    split : Split
    secret : str
        The secret from which it was generated, in hexadecimal; empty for users who may not see it.
    """

    split: Split
    secret: str


def withheld_splits(user: Visitor, splits: Iterable[Split]) -> list[WithheldSplit]:
    """Return the splits whose own answers are withheld, or were, with the secrets that this user may see.

    With the secret anybody can generate the split again. Therefore users see it only if they may see the answers.
    """
    return [
        WithheldSplit(split, split.secret if may_see(user, split, What.ANSWER) else "")
        for split in splits
        if (split.withheld or split.secret) and not split.is_derived
    ]


def open_answers(split: Split) -> bool:
    """Open the answers of a complete split; return whether this call did it. Only one of several calls returns True.

    The answers of splits that are derived from it are opened, too.
    """
    withheld = Split.objects.filter(pk=split.pk, withheld=True, state=Split.State.COMPLETE)
    with transaction.atomic():
        list(Dataset.objects.select_for_update().filter(pk=split.dataset_id))  # so that no split is derived meanwhile
        opened = withheld.update(withheld=False, opened=Now()) == 1
        if opened:
            Split.objects.filter(parent=split.pk, withheld=True).update(withheld=False, opened=Now())
    return opened
