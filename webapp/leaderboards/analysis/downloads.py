"""Boards as files: CSV, JSON, and LaTeX with booktabs, with n, intervals, and a caption."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.http import HttpResponse
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from generation.engine.formats.spreadsheets import csv_lines
from webapp.leaderboards.metrics import MetricCell
from webapp.leaderboards.ranking.board_rows import WEIGHTED, Board, BoardRow, PassedTasks
from webapp.leaderboards.replies.coverage import least_coverage
from webapp.leaderboards.replies.reply_figures import COST, LATENCY, TOKENS
from webapp.leaderboards.suites import MemberGap, SuiteBoard
from webapp.leaderboards.suites import SuiteRow as SuiteRow

KINDS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "tex": "application/x-tex; charset=utf-8"}
USAGE_NAMES = (
    "coverage",
    "answered",
    "asked",
    "tokens_per_question",
    "dollars_per_1000_questions",
    "median_seconds",
)
USAGE_HEADS = {TOKENS: "Tokens per question", COST: "Cost of 1,000 questions", LATENCY: "Median latency"}
SPECIAL = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
}


class Table(NamedTuple):
    """A table for files.

    Attributes
    ----------
    title : str
    caption : str
        The split, its content hash, and the date.
    heads : sequence of str
        Headings of the printed table; the first `texts` columns are text.
    texts : int
    printed : sequence of rows of str
    heads_of_all, rows : sequences
        Headings and rows of the CSV file, with all figures.
    data : dict
        The content of the JSON file.
    """

    title: str
    caption: str
    heads: Sequence[str]
    texts: int
    printed: Sequence[Sequence[str]]
    heads_of_all: Sequence[str]
    rows: Sequence[Sequence[Any]]
    data: Mapping[str, Any]


def response(table: Table, *, kind: str, name: str) -> HttpResponse:
    content = {"csv": as_csv, "json": as_json, "tex": as_latex}[kind](table)
    return private_file(content, content_type=KINDS[kind], name=f"{name}.{kind}")


def private_file(content: bytes, *, content_type: str, name: str) -> HttpResponse:
    """Return a download that only the browser may cache, since others may see other figures."""
    found = HttpResponse(content, content_type=content_type)
    found["Content-Disposition"] = f'attachment; filename="{name}"'
    found["Cache-Control"] = "private, no-cache"
    patch_vary_headers(found, ["Cookie"])
    return found


def of_board(board: Board, *, site: str) -> Table:
    split = board.split
    labels = [column.label for column in board.columns]
    shared = ["on people's questions"] if board.asked else []
    reweighted = ["Reweighted"] if board.is_reweighted else []
    weighted = ["Weighted"] if board.weights is not None else []
    ranks = ["Ranks"] if board.has_ranks else []
    tasks = ["Mean", "Failed"] if board.tasks is not None else []
    passed = [f"tasks_{name}" for name in PassedTasks._fields] if board.tasks is not None else []
    metrics = [metric.label for metric in board.metrics]
    usage = [USAGE_HEADS.get(column, column.label) for column in board.usage]
    caption = (
        f"Accuracy in percent on {split} ({split.questions:,} questions, content hash {split.fingerprint[:16]}), "
        f"{_of_figures(board)}; {_of_weights(board)}{_of_tasks(board)}{timezone.localdate().isoformat()}."
    )
    whole = ["rank", "method", "by", "made", "circumstances", "date", *_names("accuracy"), "accuracy_read"]
    return Table(
        title=f"Leaderboard of {split}",
        caption=caption,
        heads=[
            "",
            "Method",
            "Made",
            "n",
            "Accuracy",
            "95 % interval",
            *ranks,
            *weighted,
            *shared,
            *reweighted,
            *usage,
            *tasks,
            *metrics,
            *labels,
        ],
        texts=3,
        printed=[_printed(row, board, shared=bool(shared)) for row in board.rows],
        heads_of_all=[
            *whole,
            "unreadable",
            *([f"rank_{end}" for end in ("low", "high")] if ranks else []),
            *([*_names(WEIGHTED), f"{WEIGHTED}_rank"] if weighted else []),
            *_names("shared"),
            *(_names("reweighted") if reweighted else []),
            *(USAGE_NAMES if usage else []),
            *(_names("among_answered") if usage else []),
            *passed,
            *(name for metric in board.metrics for name in _names(metric.name)),
            *(name for label in labels for name in _names(label)),
        ],
        rows=[_whole(row, board) for row in board.rows],
        data={
            "split": str(split),
            "fingerprint": split.fingerprint,
            "questions": split.questions,
            "titles": {column.label: column.title for column in board.columns if column.title},
            "least_coverage": least_coverage(split),
            "passed_at": None if board.tasks is None else float(board.tasks.passed),
            "address": f"{site}/leaderboards/{split.dataset.slug}/{split.name}/",
            "weights": "" if board.weights is None else board.weights.text,
            "weights_left_out": {} if board.weights is None else dict(board.weights.left_out),
            "rows": [row_json(row, labels) for row in board.rows],
        },
    )


def row_json(row: BoardRow, labels: Sequence[str]) -> dict[str, Any]:
    """Return a row of a board as JSON data."""
    entry, method = row.entry, row.entry.method
    return {
        "key": entry.key,
        "rank": row.rank,
        "method": None if method is None else method.pk,
        "name": entry.name,
        "by": method.by if method is not None else "",
        "made": entry.made,
        "circumstances": entry.circumstances,
        "date": entry.date.isoformat(),
        "submissions": [submission.pk for submission in entry.submissions],
        "accuracy": row.accuracy.to_json(),
        "accuracy_read": None if row.read is None else row.read.to_json(),
        "unreadable": None if row.unreadable is None else round(row.unreadable, 6),
        "shared": None if row.shared is None else row.shared.to_json(),
        "reweighted": None if row.reweighted is None else row.reweighted.to_json(),
        "ranks": None if row.ranks is None else row.ranks._asdict(),
        "weighted": None if row.weighted is None else row.weighted.to_json(),
        "weighted_rank": row.weighted_rank,
        "usage": None if row.usage is None else row.usage.usage.to_json(),
        "among_answered": None if row.usage is None else row.usage.among.to_json(),
        "tasks": None if row.passed is None else row.passed.to_json(),
        "metrics": {one.metric.name: None if one.figure is None else one.figure.to_json() for one in row.metrics},
        "columns": {label: one.to_json() for label, one in zip(labels, row.columns, strict=True)},
    }


def _of_figures(board: Board) -> str:
    if board.is_open:
        return "95 percent intervals by Wilson's score"
    return "answers withheld: each method's best figure by the Ladder (Blum and Hardt 2015)"


def _of_weights(board: Board) -> str:
    ranks = "ranks that no significant difference excludes (Holm, 5 percent); " if board.has_ranks else ""
    return ranks + ("" if board.weights is None else f"weights of {board.weights.described}; ")


def _of_tasks(board: Board) -> str:
    """Return the caption's part about tasks; empty if columns are not tasks."""
    if board.tasks is None:
        return ""
    titles = ", ".join(column.title for column in board.columns if column.title)
    named = f" ({titles})" if titles else ""
    return f"mean over {board.tasks.noun}s{named}, failed are those under {board.tasks.percent} percent; "


def _names(name: str) -> list[str]:
    return [name, f"{name}_n", f"{name}_low", f"{name}_high", f"{name}_deviation"]


def _printed(row: BoardRow, board: Board, *, shared: bool) -> list[str]:
    entry, accuracy = row.entry, row.accuracy
    value = f"{accuracy.points} {accuracy.deviation_text}".strip() or accuracy.note or "too few"
    name = f"{entry.name} ({entry.circumstances})" if entry.circumstances else entry.name
    made = entry.method.made_text if entry.method is not None else "people"
    also = [row.ranks_text] if board.has_ranks else []
    also += [] if row.weighted is None else [row.weighted.points]
    also += [row.shared.points if row.shared is not None else ""] if shared else []
    also += [] if row.reweighted is None else [row.reweighted.points]
    tasks = [] if row.passed is None else [row.passed.mean_text, row.passed.failed_text]
    start = [str(row.rank or ""), name, made, f"{accuracy.n:,}", value, accuracy.interval_text]
    also += [cell.text for cell in row.usage_cells]
    metrics = [one.text for one in row.metrics]
    return [*start, *also, *tasks, *metrics, *(one.points for one in row.columns)]


def _whole(row: BoardRow, board: Board) -> list[Any]:
    entry, method = row.entry, row.entry.method
    start = [row.rank, entry.name, method.by if method else "", entry.made, entry.circumstances]
    read = None if row.read is None else row.read.to_json()["accuracy"]
    passed = [] if row.passed is None else list(row.passed)
    columns = [cell for one in row.columns for cell in _cells(one)]
    whole = [*start, entry.date.date().isoformat(), *_cells(row.accuracy), read, row.unreadable]
    reweighted = [] if row.reweighted is None else _cells(row.reweighted)
    usage = _usage_cells(row) if board.usage else []
    metrics = [cell for one in row.metrics for cell in _metric_cells(one)]
    ranks = [] if not board.has_ranks else [None, None] if row.ranks is None else [row.ranks.low, row.ranks.high]
    weighted = [] if board.weights is None else [*_cells(row.weighted), row.weighted_rank]
    return [*whole, *ranks, *weighted, *_cells(row.shared), *reweighted, *usage, *passed, *metrics, *columns]


def _usage_cells(row: BoardRow) -> list[Any]:
    if row.usage is None:
        return [None] * len(USAGE_NAMES) + _cells(None)
    found = row.usage.usage.to_json()
    return [*(found[name] for name in USAGE_NAMES), *_cells(row.usage.among)]


def _metric_cells(one: MetricCell) -> list[Any]:
    if one.figure is None:
        return [None] * 5
    found = one.figure.to_json()
    return [found[name] for name in ("value", "n", "low", "high", "deviation")]


def _cells(one: Any) -> list[Any]:
    if one is None:
        return [None] * 5
    found = one.to_json()
    return [found[name] for name in ("accuracy", "n", "low", "high", "deviation")]


TWIN_PARTS = ("answered", "mean", "gap", "low", "high", "lowest")


def of_suite(board: SuiteBoard, *, site: str) -> Table:
    labels = [member.label for member in board.members]
    gaps = [gap.label for gap in board.gaps]
    twin_heads = [head for group in board.twin_groups for head in (group.gap_label, group.lowest_label)]
    hashes = ", ".join(f"{member.label}: {member.split} {member.split.fingerprint[:16]}" for member in board.members)
    return Table(
        title=board.suite.title,
        caption=f"{board.suite.title}: accuracy in percent ({hashes}); {timezone.localdate().isoformat()}.",
        heads=["", "Method", "Made", *labels, "Mean", *gaps, *twin_heads],
        texts=3,
        printed=[_printed_suite(row) for row in board.rows],
        heads_of_all=[
            *("rank", "method", "made"),
            *(name for label in labels for name in _names(label)),
            "mean",
            *(name for gap in gaps for name in (gap, f"{gap}_low", f"{gap}_high", f"{gap}_harmonic")),
            *(f"{group.name}_{part}" for group in board.twin_groups for part in TWIN_PARTS),
        ],
        rows=[_whole_suite(row) for row in board.rows],
        data={
            "suite": board.suite.slug,
            "address": f"{site}{board.suite.get_absolute_url()}",
            "members": {member.label: str(member.split) for member in board.members},
            "k_name": board.suite.k_name,
            "k": {member.label: member.k for member in board.members if member.k is not None},
            "fresh_twins": {one.source.label: [twin.label for twin in one.twins] for one in board.twin_groups},
            "rows": [suite_row_json(row, labels) for row in board.rows],
        },
    )


def suite_row_json(row: SuiteRow, labels: Sequence[str]) -> dict[str, Any]:
    """Return a row of a suite's board as JSON data."""
    found = zip(labels, row.figures, strict=True)
    method = row.entry.method
    return {
        "rank": row.rank,
        "method": None if method is None else method.pk,
        "name": row.entry.name,
        "made": row.entry.made,
        "columns": {label: None if one is None else one.to_json() for label, one in found},
        "mean": row.mean,
        "gaps": {gap.label: gap.share for gap in row.gaps},
        "gap_intervals": {gap.label: gap.rounded_interval for gap in row.gaps},
        "harmonic_means": {gap.label: gap.harmonic for gap in row.gaps},
        "fresh_twins": {gap.group.source.label: gap.to_json() for gap in row.twin_gaps},
    }


def _printed_suite(row: SuiteRow) -> list[str]:
    made = row.entry.method.made_text if row.entry.method is not None else "people"
    figures = ["" if one is None else f"{one.points} {one.deviation_text}".strip() for one in row.figures]
    twins = [text for gap in row.twin_gaps for text in (gap.text, "" if gap.lowest is None else gap.lowest.points)]
    return [str(row.rank or ""), row.entry.name, made, *figures, row.mean_text, *(gap.text for gap in row.gaps), *twins]


def _whole_suite(row: SuiteRow) -> list[Any]:
    cells = [cell for one in row.figures for cell in _cells(one)]
    return [
        row.rank,
        row.entry.name,
        row.entry.made,
        *cells,
        row.mean,
        *(cell for gap in row.gaps for cell in _gap(gap)),
        *(gap.to_json()[part] for gap in row.twin_gaps for part in TWIN_PARTS),
    ]


def _gap(gap: MemberGap) -> list[float | None]:
    return [gap.share, *(gap.rounded_interval or (None, None)), gap.harmonic]


# Files


def as_csv(table: Table) -> bytes:
    return "".join(csv_lines([table.heads_of_all, *table.rows])).encode()


def as_json(table: Table) -> bytes:
    return (json.dumps(table.data, ensure_ascii=False, indent=1) + "\n").encode()


def as_latex(table: Table) -> bytes:
    """Return a table as LaTeX for a paper that uses booktabs."""
    columns = "l" * table.texts + "r" * (len(table.heads) - table.texts)
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        f"\\caption{{{_escaped(table.caption)}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(table.heads),
        r"\midrule",
        *(_line(row) for row in table.printed),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _line(cells: Sequence[str]) -> str:
    return " & ".join(_escaped(cell) for cell in cells) + r" \\"


def _escaped(text: str) -> str:
    # Other characters are left to the fonts.
    return "".join(SPECIAL.get(letter, letter) for letter in " ".join(text.split()))
