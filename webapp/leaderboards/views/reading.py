"""What the pages that read a board have in common: the split, its rows, those that are chosen, files."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from annotations.results.answer_files import cell
from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.vega import BESIDE_A_FORM, OF_PAPER, OF_THE_PAGE, WIDE
from generation.models import Split
from generation.splits.filters import BadAddress, check_names, shortened
from generation.storage.index import SplitIndex
from webapp.leaderboards.analysis.panels_chart import left_out, spec_of
from webapp.leaderboards.analysis.slices import LEAST, Ground, SlicePanel
from webapp.leaderboards.disclosure.visibility import is_open
from webapp.leaderboards.entries import Contender, Entry, asked_of, entries_of, find_entry
from webapp.leaderboards.lookup import find_board

KINDS = {"svg": "image/svg+xml", "pdf": "application/pdf", "csv": "text/csv; charset=utf-8"}
ENTRY = "entry"
MOST = 8  # rows that are read side by side
AT_FIRST = 3  # that are chosen where nobody chose
OFFERED = 40  # rows that the form offers


class UnreadableAddress(Exception):
    """An address asks for what isn't there or may not be told; the text says why."""

    def __init__(self, message: str, *, status: int = 404) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class BoardReading:
    """A board as one visitor reads it.

    Attributes
    ----------
    request : HttpRequest
    split : Split
    """

    request: HttpRequest
    split: Split

    def check_names(self, *known: str) -> None:
        """Raise `UnreadableAddress` for a name in the address that is neither rows nor one of these."""
        try:
            check_names(self.request.GET, (ENTRY, *known))
        except BadAddress as error:
            raise UnreadableAddress(str(error), status=400) from error

    @cached_property
    def index(self) -> SplitIndex:
        return SplitIndex.open(self.split)

    @cached_property
    def is_open(self) -> bool:
        return is_open(self.request.user, self.split)

    @cached_property
    def entries(self) -> list[Entry]:
        return entries_of(self.request.user, self.split)

    @cached_property
    def chosen(self) -> list[Entry]:
        """Return the rows that the address names, or the first models; raise `UnreadableAddress`."""
        keys = list(dict.fromkeys(key for key in self.request.GET.getlist(ENTRY) if key))
        if len(keys) > MOST:
            raise UnreadableAddress(f"Expected at most {MOST} rows of the board, got {len(keys)}.", status=400)
        if not keys:
            return [entry for entry in self.entries if not entry.is_human][:AT_FIRST]
        return [self._find(key) for key in keys]

    def _find(self, key: str) -> Entry:
        known = {entry.key: entry for entry in self.entries}
        found = known.get(key) or find_entry(self.request.user, self.split, key)
        if found is None:
            raise UnreadableAddress(f"Expected a row of the board of {self.split}, got {shortened(key)}.")
        return found

    @cached_property
    def contenders(self) -> list[Contender]:
        return contenders_of(self.chosen)

    @cached_property
    def ground(self) -> Ground:
        return Ground(self.index, self.split.get_absolute_url(), asked_of(self.contenders))

    @property
    def offered(self) -> list[tuple[Entry, bool]]:
        """Return the rows that a form offers, and whether each is chosen."""
        keys = {entry.key for entry in self.chosen}
        listed = self.entries[:OFFERED]
        rest = [entry for entry in self.chosen if entry.key not in {one.key for one in listed}]
        return [(entry, entry.key in keys) for entry in (*listed, *rest)]

    @property
    def entry_pairs(self) -> list[tuple[str, str]]:
        return [(ENTRY, entry.key) for entry in self.chosen]

    def context(self, here: str) -> dict[str, Any]:
        """Return what every such page says."""
        people = int(self.ground.asked.sum()) if self.ground.asked is not None else None
        return {
            "split": self.split,
            "dataset": self.split.dataset,
            "here": here,
            "is_open": True,
            "chosen": self.chosen,
            "offered": self.offered,
            "people": people,
            "same_rows": urlencode(self.entry_pairs),
            "query": self.request.GET.urlencode(),
            "least": LEAST,
        }


def opened(request: HttpRequest, slug: str, name: str) -> BoardReading:
    """Return the board of a split as this visitor reads it; 404 to whom it isn't shown."""
    return BoardReading(request, find_board(request.user, slug, name))


def check_open(reading: BoardReading) -> None:
    """Raise `UnreadableAddress` where answers are withheld from the visitor."""
    if not reading.is_open:
        message = (
            f"The answers of {reading.split} are withheld. This page opens when its owner opens them. Until then the "
            "board shows one figure for each method."
        )
        raise UnreadableAddress(message, status=403)


def about(reading: BoardReading) -> dict[str, str]:
    split = reading.split
    return {"dataset": split.dataset.slug, "split": split.name, "fingerprint": split.fingerprint}


def contenders_of(entries: Sequence[Entry]) -> list[Contender]:
    """Return rows with their predictions, under labels of their own."""
    names = [entry.name for entry in entries]
    labels = [
        f"{entry.name} ({entry.circumstances})" if names.count(entry.name) > 1 and entry.circumstances else entry.name
        for entry in entries
    ]
    return [
        Contender(
            entry.key, label if labels.count(label) == 1 else f"{label} [{entry.key}]", entry.runs(), entry.is_human
        )
        for entry, label in zip(entries, labels, strict=True)
    ]


def refused(reading: BoardReading, error: UnreadableAddress) -> HttpResponse:
    context = {"split": reading.split, "dataset": reading.split.dataset, "message": str(error)}
    return render(reading.request, "generation/refused.html", context, status=error.status)


def drawn(split: Split, panels: Sequence[SlicePanel]) -> list[dict[str, Any]]:
    """Return panels with their drawings as parts of a page; a map of two facets is the table itself."""
    specs = [None if panel.is_crossed else spec_of(panel, colors=OF_THE_PAGE) for panel in panels]
    return [
        {
            "panel": panel,
            "is_drawable": spec is not None or panel.is_crossed,
            "left_out": "" if panel.is_crossed else left_out(panel),
            "drawing": drawing,
        }
        for panel, spec, drawing in zip(panels, specs, _drawings_of(split, specs, wide=BESIDE_A_FORM), strict=True)
    ]


def drawing_of(split: Split, spec: dict[str, Any] | None) -> SafeString:
    """Return a chart as a part of a page; empty where there is nothing to draw or drawing failed."""
    [drawing] = _drawings_of(split, [spec], wide=WIDE)
    return drawing


def _drawings_of(split: Split, specs: Sequence[dict[str, Any] | None], *, wide: int) -> list[SafeString]:
    sizes = [size for spec in specs if spec is not None for size in ({**spec, "width": wide}, spec)]
    found = iter(drawings(split.dataset.slug, [DrawingOrder(size) for size in sizes]))
    return [SafeString() if spec is None else _sized(next(found), next(found)) for spec in specs]


def _sized(wide: bytes | None, narrow: bytes | None) -> SafeString:
    if wide is None or narrow is None:
        return SafeString()
    # Of elements that charts_child knows, each text escaped.
    parts = [mark_safe(drawing.decode()) for drawing in (wide, narrow)]  # noqa: S308
    return format_html('<div class="on-wide">{}</div><div class="on-narrow">{}</div>', *parts)


def for_paper(reading: BoardReading, panel: SlicePanel, *, kind: str) -> bytes:
    """Return a panel's chart as a file; raise `UnreadableAddress` where there is none."""
    return paper_of(reading, spec_of(panel, colors=OF_PAPER, title=str(reading.split)), kind=kind)


def paper_of(reading: BoardReading, spec: dict[str, Any] | None, *, kind: str) -> bytes:
    """Return a chart as a file; raise `UnreadableAddress` where there is none."""
    orders = [DrawingOrder(spec, kind=kind, site=settings.PUBLIC_URL)] if spec is not None else []
    [drawing] = drawings(reading.split.dataset.slug, orders) or [None]
    if drawing is None:
        raise UnreadableAddress("There is nothing to draw here just now. The figures are in the CSV file.")
    return drawing


def as_csv(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """Return lines of figures as CSV."""
    text = io.StringIO()
    writer: Any = csv.writer(text)
    for number, line in enumerate(lines):
        if not number:
            writer.writerow(line)
        writer.writerow(["" if value is None else cell(value) for value in line.values()])
    return text.getvalue().encode()


def saved(reading: BoardReading, content: bytes, *, kind: str, name: str) -> HttpResponse:
    """Return a file to be saved; nobody but the browser keeps it, for others may be told other figures."""
    response = HttpResponse(content, content_type=KINDS[kind])
    whole = f"{reading.split.dataset.slug}-{reading.split.name}-{name}.{kind}"
    response["Content-Disposition"] = f'attachment; filename="{whole}"'
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ["Cookie"])
    return response
