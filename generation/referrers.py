"""What refers to datasets from higher layers: such a dataset can be archived, never deleted.

A lower layer does not know the upper ones. Each of them registers, when it is loaded, a function that says which of
its things refer to a dataset.
"""

from collections.abc import Callable, Iterable

from generation.engine.errors import EngineError
from generation.models import Dataset

Referrer = Callable[[Dataset], Iterable[str]]

_REFERRERS: dict[str, Referrer] = {}
NAMED = 5


class Referred(EngineError):
    """A dataset can't be deleted because something needs it."""


def register(name: str, referrer: Referrer) -> None:
    """Let `referrer` say what refers to a dataset; the same name registered again replaces it."""
    _REFERRERS[name] = referrer


def referring_to(dataset: Dataset) -> list[str]:
    """Return what refers to a dataset, in words."""
    return [thing for name in sorted(_REFERRERS) for thing in _REFERRERS[name](dataset)]


def check_unreferred(dataset: Dataset) -> None:
    """Raise `Referred` where something needs the dataset."""
    things = referring_to(dataset)
    if things:
        more = f" and {len(things) - NAMED} more" if len(things) > NAMED else ""
        raise Referred(
            f"Expected a dataset that nothing refers to, got one that {', '.join(things[:NAMED])}{more} "
            f"refer{'s' if len(things) == 1 else ''} to. Archive it instead.",
            where=dataset.slug,
        )
