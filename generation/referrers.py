"""What refers to datasets from higher layers: some of it keeps a dataset from being deleted, the rest goes with it.

A lower layer does not know the upper ones. Each of them registers, when it is loaded, functions that say which of its
things keep a dataset, which are lost with it, and one that removes these. A page names what keeps a dataset, so a
referrer names nothing that the dataset's owner may not know of.
"""

from collections.abc import Callable, Iterable

from django.db.models import QuerySet

from generation.engine.errors import EngineError
from generation.models import Dataset, Split

Referrer = Callable[[Dataset], Iterable[str]]
SplitReferrer = Callable[[Split], Iterable[str]]
Losses = Callable[[QuerySet[Split]], Iterable[str]]
Release = Callable[[QuerySet[Split]], None]

_REFERRERS: dict[str, Referrer] = {}
_OF_SPLITS: dict[str, SplitReferrer] = {}
_LOSSES: dict[str, tuple[Losses, Release]] = {}
NAMED = 5


class Referred(EngineError):
    """A dataset can't be deleted because something needs it."""


def register(name: str, referrer: Referrer, *, of_split: SplitReferrer | None = None) -> None:
    """Let `referrer` say what refers to a dataset; the same name registered again replaces it.

    `of_split` says what refers to one of its splits. Without it, whatever refers to a dataset is taken to refer to
    each of its splits.
    """
    _REFERRERS[name] = referrer
    _OF_SPLITS[name] = of_split or (lambda split: referrer(split.dataset))


def register_losses(name: str, losses: Losses, release: Release) -> None:
    """Register `losses`, which says in words what goes with splits that are deleted, and `release`, which removes it.

    `release` runs within the transaction that decides on the deletion, and perhaps again later.
    """
    _LOSSES[name] = (losses, release)


def losses_of(splits: QuerySet[Split]) -> list[str]:
    """Return what would go with splits, a sentence each: counted, never named."""
    return [sentence for name in sorted(_LOSSES) for sentence in _LOSSES[name][0](splits)]


def release(splits: QuerySet[Split]) -> None:
    """Remove what goes with splits."""
    for name in sorted(_LOSSES):
        _LOSSES[name][1](splits)


def referring_to(dataset: Dataset) -> list[str]:
    """Return what refers to a dataset, in words."""
    return [thing for name in sorted(_REFERRERS) for thing in _REFERRERS[name](dataset)]


def referring_to_split(split: Split) -> list[str]:
    """Return what refers to a split, in words."""
    return [thing for name in sorted(_OF_SPLITS) for thing in _OF_SPLITS[name](split)]


def check_unreferred(dataset: Dataset) -> None:
    """Raise `Referred` where something needs the dataset."""
    _check("dataset", referring_to(dataset), where=dataset.slug, advice=" Archive it instead.")


def check_split_unreferred(split: Split) -> None:
    """Raise `Referred` where something needs the split."""
    _check("split", referring_to_split(split), where=str(split))


def _check(kind: str, things: list[str], *, where: str, advice: str = "") -> None:
    if things:
        more = f" and {len(things) - NAMED} more" if len(things) > NAMED else ""
        raise Referred(
            f"Expected a {kind} that nothing refers to, got one that {', '.join(things[:NAMED])}{more} "
            f"refer{'s' if len(things) == 1 else ''} to.{advice}",
            where=where,
        )
