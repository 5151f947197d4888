"""API of the analysis of boards: slices, comparisons, confusion, questions, curves, skipped steps, grids of suites."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest
from ninja import Router

from generation.browsing.sidebar import page_of
from generation.splits.query_string import QueryString
from webapp.api.boards import BOARD
from webapp.api.datasets import split_url
from webapp.api.errors import Problem
from webapp.api.openapi_operations import reads
from webapp.api.pagination import PAGE, SIZE_NAME, SIZED, WORDS, filter_of, keeping, page_json, page_size_of
from webapp.api.schemas import board_analysis as shapes
from webapp.leaderboards.analysis import comparison
from webapp.leaderboards.analysis.confusion import GIVEN, RIGHT, UNREAD
from webapp.leaderboards.analysis.costs import AXES
from webapp.leaderboards.analysis.learning_curves import ALONG, Curve, metric_json, reached_json
from webapp.leaderboards.analysis.pairs import pairs_json
from webapp.leaderboards.analysis.sample_complexity import grid_json
from webapp.leaderboards.analysis.slices import lines_of
from webapp.leaderboards.board_lookup import find_suite
from webapp.leaderboards.entries import Contender
from webapp.leaderboards.ranking.all_pairs import MOST_PAIRED
from webapp.leaderboards.replies.reply_views import Excerpt, state_name
from webapp.leaderboards.views.analysis.board_selection import (
    METRIC,
    BoardReading,
    UnreadableAddress,
    about,
    open_board,
)
from webapp.leaderboards.views.analysis.comparing import sheet_for
from webapp.leaderboards.views.analysis.confusion import confusion_json
from webapp.leaderboards.views.analysis.costs import ALONG as COST_ALONG
from webapp.leaderboards.views.analysis.costs import costs_json
from webapp.leaderboards.views.analysis.grids import open_grid
from webapp.leaderboards.views.analysis.learning_curves import OVER, TARGET, curves_for
from webapp.leaderboards.views.analysis.metrics import BY as BY_FACET
from webapp.leaderboards.views.analysis.metrics import metrics_json, slices_for
from webapp.leaderboards.views.analysis.pairs import two_or_more
from webapp.leaderboards.views.analysis.questions import REPLY, SHOW, ListedQuestion, list_questions, read_wanted
from webapp.leaderboards.views.analysis.skipped_steps import steps_for
from webapp.leaderboards.views.analysis.slices import panels_for

router = Router(tags=["Boards"])


def _text(name: str, about: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": about, "schema": {"type": "string", **schema}}


ENTRIES = filter_of("entry", "Rows of the board, by their keys; the first three models where none is named.")
ROWS = filter_of("entry", "Rows of the board, by their keys; all rows that have a rank where none is named.")
COST_AXIS = _text(COST_ALONG, "Against what; the first one that a row has by default.", enum=list(AXES))
RIGHT_ANSWER = filter_of(RIGHT, "Right answers of the questions.")
GIVEN_ANSWER = filter_of(GIVEN, "Answers that a run of the first row gives.")
UNREAD_ANSWER = filter_of(UNREAD, "What a run of the first row gives instead of a word: outside, none or tie.")
BY = filter_of("by", "One facet or two by which the board is broken down.")
VIEW = _text("view", "A view that the world has ready.")
BANDS = _text("bands", "Ranges of the first facet's numbers: `1..4, 5, 6..9`.")
SHOWN = _text(SHOW, "How they were answered: all, right, wrong, people-right, same-wrong, all-wrong, first, second.")
REPLIED = _text(REPLY, "The state of a row's reply: answered, cut-off, refused, empty, failed, no-answer-read.")
ALONG_WHAT = _text(OVER, "Along what curves run.", enum=list(ALONG))
PER_CENT = _text(
    TARGET,
    "Of the questions, that a curve is to reach: 0 to 100 per cent. 90, or from where the board's tasks are passed.",
)
WHICH_METRIC = _text(METRIC, "One of the metrics that the world names, such as `rmse`; the first one by default.")
BY_ONE = _text(BY_FACET, "The facet by which it is broken down: the answer by default; empty for all questions.")
CURVE_METRIC = _text(METRIC, "One of the metrics that the world names, such as `rmse`; the accuracy by default.")
SERIES = _text("view", "A view that the world has ready, whose series are curves of their own.")


@contextmanager
def _read(request: HttpRequest, slug: str, name: str) -> Iterator[BoardReading]:
    with _refused():
        yield open_board(request, slug, name)


@contextmanager
def _refused() -> Iterator[None]:
    """Turn refusals of pages into errors of the API, with the same text."""
    try:
        yield
    except UnreadableAddress as error:
        raise Problem(error.status, str(error)) from error


@reads(router, f"{BOARD}slices/", shapes.Slices, parameters=[ENTRIES, VIEW, BY, BANDS])
def slices(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return accuracies by a view of the world or by facets: `?by=type&by=length&entry=m5`."""
    with _read(request, slug, name) as reading:
        return about(reading) | {"slices": list(lines_of(panels_for(reading)))}


@reads(router, f"{BOARD}compare/", shapes.ComparisonOut, parameters=[ENTRIES])
def compare(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Compare two rows on identical questions, over all of them and by every facet: `?entry=m5&entry=m7`."""
    with _read(request, slug, name) as reading:
        found = sheet_for(reading)
        whole, *parts = comparison.lines_of(found)
        first, second = map(_row, reading.contenders)
        return about(reading) | {"first": first, "second": second, "test": found.test, "whole": whole, "slices": parts}


@reads(router, f"{BOARD}pairs/", shapes.PairsOut, parameters=[ROWS])
def pairs(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Compare every two rows on identical questions, with Holm's correction over all pairs and intervals of ranks."""
    with _refused():
        reading = open_board(request, slug, name, most=MOST_PAIRED)
        return about(reading) | pairs_json(two_or_more(reading))


@reads(router, f"{BOARD}confusion/", shapes.ConfusionOut, parameters=[ENTRIES, WORDS])
def board_confusion(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return how often a row gives each answer to the questions with each right answer: `?entry=m5&type=count`.

    Filters are those of the split's questions.
    """
    with _read(request, slug, name) as reading:
        return confusion_json(reading)


@reads(router, f"{BOARD}costs/", shapes.CostsOut, parameters=[COST_AXIS, ENTRIES])
def costs(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return the accuracy of rows against their cost, tokens or latency, and which rows are on the Pareto front."""
    with _read(request, slug, name) as reading:
        return costs_json(reading)


@reads(router, f"{BOARD}metrics/", shapes.MetricsOut, parameters=[ENTRIES, WHICH_METRIC, BY_ONE])
def board_metrics(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return a metric of rows by a facet, with the difference of the first two rows: `?metric=rmse&by=answer`."""
    with _read(request, slug, name) as reading:
        return metrics_json(reading, slices_for(reading))


@reads(
    router,
    f"{BOARD}questions/",
    shapes.AnsweredPage,
    parameters=[ENTRIES, SHOWN, RIGHT_ANSWER, GIVEN_ANSWER, UNREAD_ANSWER, REPLIED, WORDS, PAGE, SIZED],
)
def board_questions(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return a page of questions with the rows' answers: `?show=same-wrong&type=count&entry=m5&entry=m7`.

    Filters are those of the split's questions.
    """
    with _read(request, slug, name) as reading:
        size, _ = page_size_of(reading.asked)
        wanted = read_wanted(reading, beside=(SIZE_NAME,))
        page = page_of(wanted.query, len(wanted.positions), size=size)
        listed = list_questions(reading, wanted.positions[page.start : page.stop])
        answer = page_json(request, page, [_answered(reading, one) for one in listed])
        rows = [_row(one) for one in reading.contenders]
        answers = wanted.answers.pairs(reading.index.answer_values)
        replied = [(REPLY, state_name(wanted.state))] if wanted.state else []
        return keeping(answer, size, [*reading.entry_pairs, *answers, (SHOW, wanted.show.name), *replied]) | {
            "show": wanted.show.name,
            "rows": rows,
        }


@reads(router, f"{BOARD}curves/", shapes.Curves, parameters=[ALONG_WHAT, PER_CENT, SERIES, CURVE_METRIC])
def curves(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return accuracies, or a metric, over training examples or examples seen, and the sizes that reach a target.

    The target is an accuracy, whichever metric the points have: `?metric=rmse&target=95`.
    """
    with _read(request, slug, name) as reading:
        found = curves_for(reading)
        columns = [column.label for column in found.columns]
        said = {"along": found.asked.along, "target": float(found.asked.target), **metric_json(found.asked.metric)}
        return about(reading) | said | {"curves": [_curve(one, columns) for one in found.curves]}


@reads(router, f"{BOARD}steps/", shapes.Steps, parameters=[ENTRIES])
def steps(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return which step of the programs each row skips; `state` says whether the report is finished."""
    with _read(request, slug, name) as reading:
        report, found = steps_for(reading)
        state = "none" if report is None else str(report.state)
        return about(reading) | {"state": state, "rows": [one.to_json() for one in found]}


@reads(router, "suites/{slug:slug}/grid/", shapes.GridOut)
def suite_grid(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Return how many training examples each method needs for each k of a grid, and how this number grows with k."""
    QueryString.of(request).check_names(())
    with _refused():
        return grid_json(open_grid(request.user, find_suite(request.user, slug)))


def _row(one: Contender) -> dict[str, str]:
    return {"key": one.key, "label": one.label}


def _curve(one: Curve, columns: list[str]) -> dict[str, Any]:
    parts = {column: reached_json(part) for column, part in zip(columns, one.parts, strict=True)}
    return {"label": one.label, "reached": one.reached, "points": one.points_json(), "columns": parts}


def _answered(reading: BoardReading, one: ListedQuestion) -> dict[str, Any]:
    """Return a question with each row's answers as JSON data."""
    at, split = one.question.position, reading.split
    said = zip(reading.contenders, one.given, strict=True)
    return {
        "question_id": at,
        "question": one.question.text,
        "answer": one.answer or None,
        "given": {row.key: [given._asdict() for given in each] for row, each in said},
        "replies": {row.key: _reply(reply) for row, reply in zip(reading.contenders, one.replies, strict=True)},
        "url": f"{split_url(split)}questions/{at}/",
        "page": f"{split.get_absolute_url()}q/{at}/",
    }


def _reply(found: Excerpt | None) -> dict[str, str] | None:
    return None if found is None else {"state": found.state, "excerpt": found.text}
