"""Single questions with what rows of a board say of each."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.access import What, may_see
from generation.browsing.navigation import visible_facets
from generation.browsing.pictures import Picture, picture_of
from generation.models import Question
from generation.splits.filters import BadAddress, Query, read_query, shortened
from generation.storage import items
from generation.storage.index import SplitIndex
from generation.views.finding import pairs_of
from webapp.leaderboards import prediction_codes
from webapp.leaderboards.analysis.questions import RowAnswers, Show, chosen, given, shows_for
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.views.reading import ENTRY, BoardReading, UnreadableAddress, check_open, opened, refused

SHOW = "show"
A_PAGE = 20  # questions


@require_safe
def questions(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return single questions with what rows say: `?show=same-wrong&type=count&entry=m5`, filters as in browsing."""
    reading = opened(request, slug, name)
    try:
        query, shows, show, found = wanted_of(reading)
        page = Paginator(found, A_PAGE).get_page(query.page)
        listed = listed_of(reading, list(page.object_list))
    except BadAddress as error:
        return refused(reading, UnreadableAddress(str(error), status=400))
    except UnreadableAddress as error:
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
        "has_pictures": any(one.picture is not None for one in listed),
        "page": page,
    }
    return render(request, "leaderboards/questions.html", context)


class WantedQuestions(NamedTuple):
    """The single questions that an address asks for: its filters, the choices for these rows, which one, positions."""

    query: Query
    shows: list[Show]
    show: Show
    positions: list[int]


def wanted_of(reading: BoardReading, *, beside: Collection[str] = ()) -> WantedQuestions:
    """Return the questions that an address asks for; names `beside` are no filters.

    Raises
    ------
    Unreadable, BadAddress
    """
    check_open(reading)
    query = _query(reading, beside)
    shows = shows_for(reading.contenders)
    show = _show(reading, shows)
    within = reading.index.select(query.filters, query.each_word)
    return WantedQuestions(query, shows, show, chosen(reading.ground, reading.contenders, show, within))


def _query(reading: BoardReading, beside: Collection[str]) -> Query:
    """Return the filters that stand in the address beside rows and show; raise `BadAddress`."""
    facets = visible_facets(reading.request.user, reading.split, reading.index)
    pairs = [pair for pair in pairs_of(reading.request) if pair[0] not in (ENTRY, SHOW, *beside)]
    return read_query(pairs, facets=facets)


def _show(reading: BoardReading, shows: Sequence[Show]) -> Show:
    """Return which questions are shown; raise `UnreadableAddress` for what these rows don't allow."""
    name = reading.request.GET.get(SHOW) or shows[0].name
    found = next((one for one in shows if one.name == name), None)
    if found is None:
        raise UnreadableAddress(
            f"Expected to show one of {', '.join(one.name for one in shows)} for these rows, got {shortened(name)}."
        )
    return found


class Listed(NamedTuple):
    """A question with its picture, if it has one, its right answer, and what each row says of it."""

    question: Question
    picture: Picture | None
    answer: str
    given: list[list[RowAnswers]]


def listed_of(reading: BoardReading, positions: Sequence[int]) -> list[Listed]:
    """Return questions of a split by their positions, with what the chosen rows say of each."""
    index, ground = reading.index, reading.ground
    outside = [_outside(entry, index) for entry in reading.chosen]
    with_pictures = may_see(reading.request.user, reading.split, What.IMAGE)
    found = []
    for question in items.browsed(reading.split, list(positions)):
        at = question.position
        said = [given(ground, one, at, words) for one, words in zip(reading.contenders, outside, strict=True)]
        code = int(index.answers[at])
        picture = picture_of(question.scene, reading.split, small=True) if with_pictures else None
        answer = index.answer_values[code] if code < len(index.answer_values) else ""
        found.append(Listed(question, picture, answer, said))
    return found


def _outside(entry: Entry, index: SplitIndex) -> list[Mapping[int, str]]:
    """Return, for each run, what it says outside the vocabulary, by the question's position in the entry's split."""
    found: list[Mapping[int, str]] = []
    for submission in entry.submissions:
        said = prediction_codes.load(submission.predictions).outside
        if submission.split_id != entry.split.pk:
            placed = {index.place_of(at): text for at, text in said.items()}
            said = {at: text for at, text in placed.items() if at is not None}
        found.append(said)
    return found
