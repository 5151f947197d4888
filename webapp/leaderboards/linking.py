"""The way from a split's page to its board."""

from collections.abc import Sequence

from django.urls import reverse

from generation.access import Visitor, What, may_see
from generation.models import Split
from generation.remarks import Remark


def remarks(user: Visitor, splits: Sequence[Split]) -> dict[int, Remark]:
    """Return, by split, the link to its board."""
    return {
        split.pk: Remark("Leaderboard", reverse("board", args=[split.dataset.slug, split.name]))
        for split in splits
        if may_see(user, split, What.QUESTION)
    }


def nothing(user: Visitor, split: Split, position: int) -> str:
    """Return nothing to be said of a single question: its board has a page for each."""
    return ""
