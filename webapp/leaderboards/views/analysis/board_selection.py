"""Code that the views of a board's analysis share: the split, its rows, the chosen rows, charts, and files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from generation.access import may_see_exact_figures
from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.vega import BESIDE_A_FORM, OF_PAPER, OF_THE_PAGE, WIDE
from generation.engine.formats.spreadsheets import csv_lines
from generation.engine.scoring.figures import TOO_FEW
from generation.models import Split
from generation.reports.count_metrics import metrics_of
from generation.splits.query_string import BadAddress, QueryString, shorten
from generation.storage.split_index import SplitIndex
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.analysis.charts.slice_panels_chart import left_out, spec_of
from webapp.leaderboards.analysis.slices import SliceContext, SlicePanel
from webapp.leaderboards.board_lookup import find_board
from webapp.leaderboards.entries import Contender, Entry, asked_positions, distinguish, entries_of, find_entry

KINDS = {"svg": "image/svg+xml", "pdf": "application/pdf", "csv": "text/csv; charset=utf-8"}
TABLE_OR_CHART_KINDS = (*downloads.KINDS, *(kind for kind in KINDS if kind not in downloads.KINDS))
ENTRY, METRIC = "entry", "metric"
MOST = 8  # rows that can be chosen
AT_FIRST = 3  # rows that are chosen if the URL names none
OFFERED = 40  # rows that the form offers

P = ParamSpec("P")
ViewOfReading = Callable[Concatenate["BoardReading", P], HttpResponse]
ViewOfBoard = Callable[Concatenate[HttpRequest, str, str, P], HttpResponse]


class UnreadableAddress(Exception):
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
    most : int
        The number of rows that the URL may name.
    """

    request: HttpRequest
    split: Split
    most: int = MOST

    def check_names(self, *known: str) -> None:
        """Raise `UnreadableAddress` for a parameter that is neither a row nor one of `known`."""
        try:
            self.asked.check_names((ENTRY, *known))
        except BadAddress as error:
            raise UnreadableAddress(str(error), status=400) from error

    @cached_property
    def asked(self) -> QueryString:
        return QueryString.of(self.request)

    @cached_property
    def index(self) -> SplitIndex:
        return SplitIndex.open(self.split)

    @cached_property
    def is_open(self) -> bool:
        return may_see_exact_figures(self.request.user, self.split)

    @cached_property
    def entries(self) -> list[Entry]:
        return entries_of(self.request.user, self.split)

    @cached_property
    def chosen(self) -> list[Entry]:
        """Return the rows that the URL names, or the first models by default; raise `UnreadableAddress`."""
        keys = self.asked.values(ENTRY)
        if len(keys) > self.most:
            raise UnreadableAddress(f"Expected at most {self.most} rows of the board, got {len(keys)}.", status=400)
        if not keys:
            return [entry for entry in self.entries if not entry.is_human][:AT_FIRST]
        found = [self._find(key) for key in keys]
        return list({entry.key: entry for entry in found}.values())  # each row once, or pairs would count it twice

    def _find(self, key: str) -> Entry:
        known = {entry.key: entry for entry in self.entries}
        found = known.get(key) or find_entry(self.request.user, self.split, key)
        if found is None:
            raise UnreadableAddress(f"Expected a row of the board of {self.split}, got {shorten(key)}.")
        return found

    @cached_property
    def contenders(self) -> list[Contender]:
        return contenders_of(self.chosen)

    @cached_property
    def ground(self) -> SliceContext:
        people = contenders_of([entry for entry in self.chosen if entry.is_human])
        return SliceContext(self.index, self.split.get_absolute_url(), asked_positions(people))

    @property
    def offered(self) -> list[tuple[Entry, bool]]:
        """Return the rows that the form offers, and whether each is chosen."""
        keys = {entry.key for entry in self.chosen}
        listed = self.entries[:OFFERED]
        rest = [entry for entry in self.chosen if entry.key not in {one.key for one in listed}]
        return [(entry, entry.key in keys) for entry in (*listed, *rest)]

    def file_name(self, what: str) -> str:
        return f"{self.split.dataset.slug}-{self.split.name}-{what}"

    @property
    def entry_pairs(self) -> list[tuple[str, str]]:
        return [(ENTRY, entry.key) for entry in self.chosen]

    def context(self, here: str) -> dict[str, Any]:
        """Return the template context that all these pages share."""
        people = int(self.ground.asked.sum()) if self.ground.asked is not None else None
        return {
            "split": self.split,
            "dataset": self.split.dataset,
            "here": here,
            "is_open": True,
            "has_metrics": bool(metrics_of(self.split)),
            "chosen": self.chosen,
            "offered": self.offered,
            "people": people,
            "same_rows": urlencode(self.entry_pairs),
            "query": self.request.GET.urlencode(),
            "least": TOO_FEW,
        }


def open_board(request: HttpRequest, slug: str, name: str, *, most: int = MOST) -> BoardReading:
    return BoardReading(request, find_board(request.user, slug, name), most)


def board_view(*, most: int = MOST) -> Callable[[ViewOfReading[P]], ViewOfBoard[P]]:
    """Make a view from a function that takes a `BoardReading`. Errors about its URL become a page that says why."""

    def decorate(view: ViewOfReading[P]) -> ViewOfBoard[P]:
        @wraps(view)
        def read(request: HttpRequest, slug: str, name: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            reading = open_board(request, slug, name, most=most)
            try:
                return view(reading, *args, **kwargs)
            except BadAddress as error:
                return refuse(reading, UnreadableAddress(str(error), status=400))
            except UnreadableAddress as error:
                return refuse(reading, error)

        return read

    return decorate


def check_open(reading: BoardReading) -> None:
    """Raise `UnreadableAddress` if answers are withheld from the visitor."""
    if not reading.is_open:
        message = (
            f"The answers of {reading.split} are withheld. This page is shown when its owner opens them. Until then, "
            "the board shows one figure for each method."
        )
        raise UnreadableAddress(message, status=403)


def check_kind(kind: str, known: Iterable[str]) -> None:
    if kind not in (kinds := tuple(known)):
        raise UnreadableAddress(f"Expected one of {', '.join(kinds)}, got {shorten(kind)}.")


def about(reading: BoardReading) -> dict[str, str]:
    split = reading.split
    return {"dataset": split.dataset.slug, "split": split.name, "fingerprint": split.fingerprint}


def labels_of(entries: Sequence[Entry]) -> list[str]:
    """Return a label for each row; all labels differ."""
    entries = distinguish(entries)
    names = [entry.name for entry in entries]
    labels = [
        f"{entry.name} ({entry.details})" if names.count(entry.name) > 1 and entry.details else entry.name
        for entry in entries
    ]
    return [
        label if labels.count(label) == 1 else f"{label} [{entry.key}]"
        for entry, label in zip(entries, labels, strict=True)
    ]


def contenders_of(entries: Sequence[Entry]) -> list[Contender]:
    """Return rows with their predictions and with labels that differ."""
    return [
        Contender(entry.key, label, entry.runs(), entry.is_human)
        for entry, label in zip(entries, labels_of(entries), strict=True)
    ]


def refuse(reading: BoardReading, error: UnreadableAddress) -> HttpResponse:
    context = {"split": reading.split, "dataset": reading.split.dataset, "message": str(error)}
    return render(reading.request, "generation/refused.html", context, status=error.status)


def draw_panels(split: Split, panels: Sequence[SlicePanel]) -> list[dict[str, Any]]:
    """Return panels with their charts as HTML; for two crossed facets the table itself is the map."""
    specs = [None if panel.is_crossed else spec_of(panel, colors=OF_THE_PAGE) for panel in panels]
    drawn = drawings_of(split.dataset.slug, specs, wide=BESIDE_A_FORM)
    return [
        {
            "panel": panel,
            "is_drawable": spec is not None or panel.is_crossed,
            "left_out": "" if panel.is_crossed else left_out(panel),
            "drawing": drawing,
        }
        for panel, spec, drawing in zip(panels, specs, drawn, strict=True)
    ]


def drawing_of(folder: str, spec: dict[str, Any] | None) -> SafeString:
    [drawing] = drawings_of(folder, [spec], wide=WIDE)
    return drawing


def drawings_of(folder: str, specs: Sequence[dict[str, Any] | None], *, wide: int) -> list[SafeString]:
    sizes = [size for spec in specs if spec is not None for size in ({**spec, "width": wide}, spec)]
    found = iter(drawings(folder, [DrawingOrder(size) for size in sizes]))
    return [SafeString() if spec is None else _sized(next(found), next(found)) for spec in specs]


def small_drawings_of(folder: str, specs: Sequence[dict[str, Any] | None]) -> list[SafeString]:
    found = iter(drawings(folder, [DrawingOrder(spec) for spec in specs if spec is not None]))
    return [SafeString() if spec is None else _html(next(found)) for spec in specs]


def _sized(wide: bytes | None, narrow: bytes | None) -> SafeString:
    if wide is None or narrow is None:
        return SafeString()
    parts = (_html(wide), _html(narrow))
    return format_html('<div class="on-wide">{}</div><div class="on-narrow">{}</div>', *parts)


def _html(drawing: bytes | None) -> SafeString:
    # Drawings have only the elements that `generation.charts.drawing_process` allows, and their texts are escaped.
    return mark_safe((drawing or b"").decode())  # noqa: S308


def for_paper(reading: BoardReading, panel: SlicePanel, *, kind: str) -> bytes:
    folder, title = reading.split.dataset.slug, str(reading.split)
    return paper_of(folder, spec_of(panel, colors=OF_PAPER, title=title), kind=kind)


def paper_of(folder: str, spec: dict[str, Any] | None, *, kind: str) -> bytes:
    """Return a chart as a file, stored in this folder; raise `UnreadableAddress` if there is nothing to draw."""
    orders = [DrawingOrder(spec, kind=kind, site=settings.PUBLIC_URL)] if spec is not None else []
    [drawing] = drawings(folder, orders) or [None]
    if drawing is None:
        raise UnreadableAddress("There is no drawing at the moment. The figures are in the CSV file.")
    return drawing


def as_csv(lines: Iterable[Mapping[str, Any]]) -> bytes:
    every = list(lines)
    return "".join(csv_lines([*every[:1], *(line.values() for line in every)])).encode()


def download(content: bytes, *, kind: str, name: str) -> HttpResponse:
    return downloads.private_file(content, content_type=KINDS[kind], name=f"{name}.{kind}")
