"""The number of bytes that each account stores on this site, and its limit.

Upper layers register what accounts store. Before storing anything for an account, code calls `check`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Sum
from django.db.models.functions import Length

from generation.engine.errors import EngineError
from generation.models import Export, Import
from generation.models.quotas import Upload
from generation.storage import files

MEGA = 1_000_000
MOST_EXPORTS = 20  # limit for the exports that an account keeps or has requested
WHERE = "The page of your account shows what uses the storage, and how to free it: /account/#storage"


class AccountFull(EngineError):
    """The storage of an account is full."""


class Use(NamedTuple):
    """The storage that an account uses for one kind of thing: number of things, bytes, and how to free them."""

    what: str
    number: int
    size: int
    advice: str


_USES: dict[str, Callable[[Any], Use]] = {}


def register(name: str, use: Callable[[Any], Use]) -> None:
    _USES[name] = use


def uses_of(user: Any) -> list[Use]:
    return [_USES[name](user) for name in sorted(_USES)]


def used_by(user: Any) -> int:
    return sum(use.size for use in uses_of(user))


def limit_of(user: Any) -> int | None:
    return None if user is None or user.is_staff else settings.ACCOUNT_MB * MEGA  # bytes; staff have no limit


def check(user: Any, size: int) -> None:
    """Raise `AccountFull` if an account may not store this many more bytes."""
    most = limit_of(user)
    if most is None:
        return
    used = used_by(user)
    if used + size > most:
        raise AccountFull(
            f"Expected at most {most // MEGA:,} MB for an account, got {size / MEGA:,.1f} MB in addition to the "
            f"{used / MEGA:,.1f} MB that yours uses. {WHERE}"
        )


def check_exports(user: Any, size: int) -> None:
    if limit_of(user) is not None and _exports(user).count() >= MOST_EXPORTS:
        raise AccountFull(f"Expected at most {MOST_EXPORTS} exports for an account, got one more. {WHERE}")
    check(user, size)


def _exports(user: Any) -> Any:
    states = [Export.State.WAITING, Export.State.RUNNING, Export.State.DONE]
    return Export.objects.filter(user=user.pk, state__in=states)


def _use_of_exports(user: Any) -> Use:
    found = _exports(user)
    size = found.aggregate(total=Sum("size"))["total"] or 0
    return Use(
        "Exports",
        found.count(),
        size,
        "Delete exports on the page Export of their dataset. They also expire by themselves.",
    )


def _use_of_imports(user: Any) -> Use:
    folders = list(Import.objects.filter(owner=user.pk).exclude(stored="").values_list("stored", flat=True))
    size = sum(files.size_below(folder) for folder in folders)
    return Use("Files for imports", len(folders), size, "They are deleted when they are read or refused.")


def _use_of_uploads(user: Any) -> Use:
    found = Upload.objects.filter(user=user.pk)
    size = found.aggregate(total=Sum(Length("content")))["total"] or 0
    return Use("Files for unfinished specs", found.count(), size, "They are deleted after a day.")


register("exports", _use_of_exports)
register("imports", _use_of_imports)
register("uploads", _use_of_uploads)
