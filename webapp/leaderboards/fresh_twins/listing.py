"""Fresh twins on pages: notes and the button on pages of splits, and the list of a split's twins."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Case, When
from django.urls import reverse

from generation.access import Visitor, may_mention, owns
from generation.extension_points import Link, Note
from generation.making.fresh_twins import may_make_twin
from generation.making.progress import progress_of
from generation.models import Dataset, FreshTwin, Split
from webapp.leaderboards.fresh_twins.suite import suites_with_twins
from webapp.leaderboards.models import Suite


def address_of(split: Split) -> str:
    return reverse("fresh_twins", args=[split.dataset.slug, split.name])


def notes(user: Visitor, splits: Sequence[Split]) -> dict[int, Note]:
    """Return notes of splits: a twin names its source, another split the number of twins that the visitor may see."""
    by_key = {split.pk: split for split in splits}
    twins, known = FreshTwin.objects.filter(split__in=splits), FreshTwin.objects.visible_to(user)
    rows = list((twins | known.filter(source__in=splits)).select_related("source__dataset"))
    counts = Counter(row.source_id for row in rows)
    found = {key: Note(_counted(counts[key]), address_of(split)) for key, split in by_key.items() if counts[key]}
    for row in rows:
        if row.split_id in by_key and row.source is not None and may_mention(user, row.source.dataset):
            found[row.split_id] = Note(f"Fresh twin {row.number} of {row.source}", address_of(row.source))
    return found


def _counted(count: int) -> str:
    return f"{count} fresh twin{'' if count == 1 else 's'}"


def source_name(user: Visitor, split: Split) -> str | None:
    """Return the name of the source of a fresh twin; None for other splits, or if the visitor may not know the name."""
    twin = FreshTwin.objects.select_related("source__dataset").filter(split=split).first()
    if twin is None or twin.source is None or not may_mention(user, twin.source.dataset):
        return None
    return str(twin.source)


def no_note(user: Visitor, split: Split, position: int) -> str:
    return ""  # twins add no note to single questions


def action(user: Visitor, split: Split) -> Link | None:
    """Return the link to the form for fresh twins; None if this user may not make any, or the split cannot have any."""
    if split.kind != Split.Kind.GENERATED or not may_make_twin(user, split):
        return None
    if FreshTwin.objects.filter(split=split).exists():
        return None
    return Link("Make a fresh twin", address_of(split))


SUITES = 5
NUMBERS = 6  # the most twins that a label names


def suite_links(user: Visitor, split: Split) -> list[Link]:
    suites = suites_with_twins(split).visible_to(user)
    own_first = suites.order_by(Case(When(owner=user.pk, then=0), default=1), "pk") if user.pk else suites
    return [Link(_label(suite, split), suite.get_absolute_url()) for suite in own_first[:SUITES]]


def _label(suite: Suite, split: Split) -> str:
    found = FreshTwin.objects.filter(source=split, split__memberships__suite=suite).order_by("number")
    numbers = list(found.values_list("number", flat=True))
    more = f" and {len(numbers) - NUMBERS} more" if len(numbers) > NUMBERS else ""
    shown = ", ".join(map(str, numbers[:NUMBERS]))
    return f"Suite with twin{'' if len(numbers) == 1 else 's'} {shown}{more}"


class TwinRow(NamedTuple):
    """A twin in the list; `percent` is the share of it that is made, None if it is complete."""

    twin: FreshTwin
    split: Split
    percent: int | None
    is_own: bool

    @property
    def is_making(self) -> bool:
        return self.split.dataset.state == Dataset.State.MAKING


def rows_of(user: Visitor, twins: Iterable[FreshTwin]) -> list[TwinRow]:
    return [_row(user, twin) for twin in twins]


def _row(user: Visitor, twin: FreshTwin) -> TwinRow:
    dataset = twin.split.dataset
    is_made = dataset.state == Dataset.State.COMPLETE
    percent = None if is_made else int(progress_of(dataset).share * 100)
    return TwinRow(twin, twin.split, percent, owns(user, dataset))
