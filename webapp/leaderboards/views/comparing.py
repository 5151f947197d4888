"""Two rows of a board, compared, and single questions that they or others answered."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation import rows
from generation.browse import BadAddress, Query, read_query, shortened
from generation.index import SplitIndex
from generation.models import Question
from generation.trail import visible_facets
from generation.views.finding import pairs_of
from webapp.leaderboards import predictions
from webapp.leaderboards.comparing import lines_of, sheet
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.per_question import Given, Show, chosen, given, shows_for
from webapp.leaderboards.slices import divided
from webapp.leaderboards.views.reading import ENTRY, Reading, Unreadable, as_csv, opened, refused, saved
from webapp.leaderboards.withholding import facets_for

SHOW = "show"
A_PAGE = 20  # questions
TWO = 2


@require_safe
def compare(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return two rows of a board compared: `?entry=m5&entry=m7`."""
    reading = opened(request, slug, name)
    try:
        _check_open(reading)
        reading.chosen = reading.chosen[:TWO]
        context = reading.context("Compare")
        if len(reading.contenders) == TWO:
            first, second = reading.contenders
            by = [divided(facet) for facet in facets_for(request.user, reading.split, reading.index)]
            context |= {"first": first, "second": second, "sheet": sheet(reading.ground, first, second, by)}
    except Unreadable as error:
        return refused(reading, error)
    return render(request, "leaderboards/compare.html", context)


@require_safe
def compare_file(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the figures of a comparison as CSV."""
    reading = opened(request, slug, name)
    try:
        _check_open(reading)
        reading.chosen = reading.chosen[:TWO]
        if len(reading.contenders) < TWO:
            raise Unreadable("Expected two rows of the board, got fewer.", status=400)
        by = [divided(facet) for facet in facets_for(request.user, reading.split, reading.index)]
        first, second = reading.contenders
        found = sheet(reading.ground, first, second, by)
    except Unreadable as error:
        return refused(reading, error)
    return saved(reading, as_csv(lines_of(found)), kind="csv", name="compare")


@require_safe
def questions(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return single questions with what rows say: `?show=same-wrong&type=count&entry=m5`, filters as in browsing."""
    reading = opened(request, slug, name)
    try:
        _check_open(reading)
        query = _query(reading)
        shows = shows_for(reading.contenders)
        show = _show(reading, shows)
        found = chosen(reading.ground, reading.contenders, show, reading.index.select(query.filters, query.each_word))
        page = Paginator(found, A_PAGE).get_page(query.page)
        listed = _listed(reading, list(page.object_list))
    except BadAddress as error:
        return refused(reading, Unreadable(str(error), status=400))
    except Unreadable as error:
        return refused(reading, error)
    kept = [*query.with_words(query.words).pairs, *reading.entry_pairs]
    context: dict[str, Any] = {
        **reading.context("Question by question"),
        "shows": [(one, urlencode([*kept, (SHOW, one.name)]), one is show) for one in shows],
        "show": show,
        "conditions": query.conditions,
        "kept": query.pairs,
        "onward": urlencode([*kept, (SHOW, show.name)]),
        "without": urlencode([*reading.entry_pairs, (SHOW, show.name)]),
        "contenders": reading.contenders,
        "listed": listed,
        "page": page,
    }
    return render(request, "leaderboards/questions.html", context)


def _query(reading: Reading) -> Query:
    """Return the filters that stand in the address beside rows and show; raise `BadAddress`."""
    facets = visible_facets(reading.request.user, reading.split, reading.index)
    pairs = [pair for pair in pairs_of(reading.request) if pair[0] not in (ENTRY, SHOW)]
    return read_query(pairs, facets=facets)


def _show(reading: Reading, shows: Sequence[Show]) -> Show:
    """Return which questions are shown; raise `Unreadable` for what these rows don't allow."""
    name = reading.request.GET.get(SHOW) or shows[0].name
    found = next((one for one in shows if one.name == name), None)
    if found is None:
        raise Unreadable(
            f"Expected to show one of {', '.join(one.name for one in shows)} for these rows, got {shortened(name)}."
        )
    return found


class Listed(NamedTuple):
    """A question, its right answer, and what each row says of it."""

    question: Question
    answer: str
    given: list[list[Given]]


def _listed(reading: Reading, positions: list[int]) -> list[Listed]:
    index, ground = reading.index, reading.ground
    outside = [_outside(entry, index) for entry in reading.chosen]
    found = []
    for question in rows.browsed(reading.split, positions):
        at = question.position
        said = [given(ground, one, at, words) for one, words in zip(reading.contenders, outside, strict=True)]
        code = int(index.answers[at])
        found.append(Listed(question, index.answer_values[code] if code < len(index.answer_values) else "", said))
    return found


def _outside(entry: Entry, index: SplitIndex) -> list[Mapping[int, str]]:
    """Return, for each run, what it says outside the vocabulary, by the question's position in the entry's split."""
    found: list[Mapping[int, str]] = []
    for submission in entry.submissions:
        said = predictions.load(submission.predictions).outside
        if submission.split_id != entry.split.pk:
            placed = {index.place_of(at): text for at, text in said.items()}
            said = {at: text for at, text in placed.items() if at is not None}
        found.append(said)
    return found


def _check_open(reading: Reading) -> None:
    """Raise `Unreadable` where single questions, and what is counted of them, may not be told."""
    if not reading.terms.is_open:
        message = "Answers are withheld: nothing is told of single questions, nor of how two rows differ."
        raise Unreadable(message, status=403)
