"""With how many examples each column of a board reaches a target: rows are columns of the board, columns curves."""

from collections.abc import Sequence
from typing import NamedTuple

from django.utils import timezone

from generation.engine.worlds import Column
from generation.engine.worlds.boards import Tasks
from generation.models import Split
from webapp.leaderboards.analysis.curves import ALONG, Curve, Reached
from webapp.leaderboards.downloads import Table

FAIL = "FAIL"  # no size that was measured reaches it
UNTOLD = "–"  # too few questions


class Line(NamedTuple):
    """A column of the board, with what each curve needs for it."""

    label: str
    title: str
    found: list[Reached]

    @property
    def cells(self) -> list[tuple[str, str]]:
        """Return what is said of each curve, and beside it the highest accuracy where the target isn't reached."""
        return [(text_of(one), "" if one.size is not None else best_of(one)) for one in self.found]


class Needed(NamedTuple):
    """What curves need: a line for each column, and for each curve how many of these don't reach the target.

    `noun` is what a column is called.
    """

    curves: list[str]
    lines: list[Line]
    failed: list[int]
    noun: str


def text_of(one: Reached) -> str:
    """Return a size for people, or that it isn't reached or told."""
    if one.size is not None:
        return f"{one.size:,}"
    return UNTOLD if one.best is None else FAIL


def best_of(one: Reached) -> str:
    """Return the highest accuracy in points for people; empty where it isn't told."""
    return "" if one.best is None else f"{100 * one.best:.1f}"


def needed(curves: Sequence[Curve], columns: Sequence[Column], tasks: Tasks | None) -> Needed:
    """Return what each curve needs for each column; where there are tasks, for these alone."""
    chosen = [at for at, column in enumerate(columns) if tasks is None or column.facet == tasks.facet]
    lines = [
        Line(columns[at].label, columns[at].title or columns[at].label, [curve.parts[at] for curve in curves])
        for at in chosen
    ]
    failed = [sum(text_of(line.found[at]) == FAIL for line in lines) for at in range(len(curves))]
    return Needed([curve.label for curve in curves], lines, failed, tasks.noun if tasks is not None else "column")


def table_of(split: Split, found: Needed, along: str, target: str) -> Table:
    """Return it for other programs: `FAIL` where no size that was measured reaches the target."""
    caption = (
        f"{ALONG[along].capitalize()} with which {target} percent are right, on {split} "
        f"({split.questions:,} questions, content hash {split.fingerprint[:16]}); {timezone.localdate().isoformat()}."
    )
    failed = [f"{found.noun.capitalize()}s failed", *map(str, found.failed)]
    return Table(
        title=f"What curves of {split} need",
        caption=caption,
        heads=[found.noun.capitalize(), *found.curves],
        texts=1,
        printed=[*([line.title, *(text for text, _ in line.cells)] for line in found.lines), failed],
        heads_of_all=[found.noun, "title", *(name for curve in found.curves for name in (curve, f"{curve}, highest"))],
        rows=[[line.label, line.title, *(cell for one in line.found for cell in _cells(one))] for line in found.lines],
        data={
            "split": str(split),
            "fingerprint": split.fingerprint,
            "along": along,
            "target": float(target),
            "rows": [line_json(line, found.curves) for line in found.lines],
            "failed": dict(zip(found.curves, found.failed, strict=True)),
        },
    )


def line_json(line: Line, curves: Sequence[str]) -> dict[str, object]:
    """Return what a column needs for other programs: by curve `reached` and `highest`."""
    found = zip(curves, line.found, strict=True)
    return {"column": line.label, "title": line.title, "curves": {curve: reached_json(one) for curve, one in found}}


def reached_json(one: Reached) -> dict[str, float | int | None]:
    """Return the smallest size that reaches the target, and the highest accuracy, for other programs."""
    return {"reached": one.size, "highest": None if one.best is None else round(one.best, 6)}


def _cells(one: Reached) -> list[str | int | float | None]:
    size = None if one.best is None else FAIL
    return [one.size if one.size is not None else size, None if one.best is None else round(one.best, 6)]
