"""View of single questions with the answers of a board's rows."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.access import What, may_see
from generation.browsing.navigation import read_filters
from generation.browsing.pictures import Picture, picture_of
from generation.models import Question
from generation.reports.scoring import truth_of
from generation.splits.query_string import Query, shorten
from generation.storage import items
from generation.storage.split_index import SplitIndex
from webapp.leaderboards import stored_predictions
from webapp.leaderboards.analysis import confusion
from webapp.leaderboards.analysis.confusion import AnswerFilter
from webapp.leaderboards.analysis.questions import RowAnswers, Show, choose_questions, given, shows_for
from webapp.leaderboards.entries import Codes, Entry
from webapp.leaderboards.replies.reply_views import (
    BY_NAME,
    CHOICES,
    Excerpt,
    excerpts_of,
    have_replies,
    in_state,
    state_name,
)
from webapp.leaderboards.views.analysis.board_selection import (
    ENTRY,
    BoardReading,
    UnreadableAddress,
    board_view,
    check_open,
)

SHOW, REPLY = "show", "reply"
A_PAGE = 20  # questions


@require_safe
@board_view()
def questions(reading: BoardReading) -> HttpResponse:
    """Return questions with the rows' answers: `?show=same-wrong&reply=failed&type=count&entry=m5`.

    Filters are those of browsing; `right=red&given=blue` are the questions with one right answer to which the first row
    gives another one.
    """
    wanted = read_wanted(reading)
    query, shows, show, found, state = wanted.query, wanted.shows, wanted.show, wanted.positions, wanted.state
    page = Paginator(found, A_PAGE).get_page(query.page)
    listed = list_questions(reading, list(page.object_list))
    answers = wanted.answers.pairs(reading.index.answer_values)
    kept = [*query.with_words(query.words).pairs, *answers, *reading.entry_pairs]
    shown, replied = [(SHOW, show.name)], [(REPLY, state_name(state))] if state else []
    context: dict[str, Any] = {
        **reading.context("Question by question"),
        "shows": [(one, urlencode([*kept, (SHOW, one.name), *replied]), one is show) for one in shows],
        "states": _state_choices(reading, [*kept, *shown], state),
        "state": state_name(state),
        "show": show,
        "conditions": [*(f"{one.facet.label}: {one.label}" for one in query.conditions), *_described(reading, wanted)],
        "kept": [*query.pairs, *answers],
        "onward": urlencode([*kept, *shown, *replied]),
        "without": urlencode([*reading.entry_pairs, *shown, *replied]),
        "contenders": reading.contenders,
        "listed": listed,
        "has_pictures": any(one.picture is not None for one in listed),
        "page": page,
    }
    return render(reading.request, "leaderboards/questions.html", context)


def _state_choices(reading: BoardReading, kept: Sequence[tuple[str, str]], state: str) -> list[tuple[str, str, bool]]:
    """Return label and query of each state of replies, and whether it is chosen; empty if no row has replies."""
    if not have_replies(reading.chosen):
        return []
    states = [(one, [(REPLY, state_name(one))], one == state) for one in CHOICES]
    return [
        (label, urlencode([*kept, *pairs]), is_on) for label, pairs, is_on in (("any reply", [], not state), *states)
    ]


class WantedQuestions(NamedTuple):
    """The questions that a URL asks for: its filters, the possible choices, the chosen one, and the positions.

    `answers` are filters by the right answer and by the answer of the first row. `state` is the state that a reply to
    them must have; empty for any.
    """

    query: Query
    shows: list[Show]
    show: Show
    positions: list[int]
    answers: AnswerFilter
    state: str = ""


def read_wanted(reading: BoardReading, *, beside: Collection[str] = ()) -> WantedQuestions:
    """Return the questions that a URL asks for; parameters in `beside` are not filters.

    Raises
    ------
    UnreadableAddress, BadAddress
    """
    check_open(reading)
    query = read_filters_of(reading, beside=(SHOW, REPLY, *confusion.NAMES, *beside))
    shows = shows_for(reading.contenders)
    show = _show(reading, shows)
    within = reading.index.select(query.filters, query.each_word)
    answers = AnswerFilter.read(reading.asked, reading.index.answer_values)
    if answers.given and not reading.chosen:
        raise UnreadableAddress("Expected a row of the board for a filter by given answers, got none.", status=400)
    if not answers.is_empty:
        runs = runs_with_empty(reading.chosen[0], reading.index) if answers.given else []
        within = within[answers.find(runs, truth_of(reading.index))[within]]
    state = _state(reading)
    if state:
        within = within[in_state(reading.chosen, reading.index, state)[within]]
    positions = choose_questions(reading.ground, reading.contenders, show, within)
    return WantedQuestions(query, shows, show, positions, answers, state)


def _state(reading: BoardReading) -> str:
    """Return the state that a reply must have, or an empty text; raise `UnreadableAddress`."""
    name = reading.asked.value(REPLY)
    if not name:
        return ""
    if name not in BY_NAME:
        raise UnreadableAddress(f"Expected one of the states {', '.join(BY_NAME)}, got {shorten(name)}.", status=400)
    if not have_replies(reading.chosen):
        raise UnreadableAddress("Expected rows with replies, got rows without them. Choose other rows.")
    return BY_NAME[name]


def runs_with_empty(entry: Entry, index: SplitIndex) -> list[Codes]:
    # Empty answers have the code `NONE`.
    runs: list[Codes] = [*entry.runs()]
    return confusion.without_empty(runs, answers_outside(entry, index)) if entry.submissions else runs


def _described(reading: BoardReading, wanted: WantedQuestions) -> list[str]:
    row = reading.contenders[0].label if reading.contenders else ""
    return wanted.answers.described(reading.index.answer_values, row)


def read_filters_of(reading: BoardReading, *, beside: Collection[str] = ()) -> Query:
    # Parameters in `beside` are no filters.
    asked = reading.asked.without(ENTRY, *beside)
    return read_filters(asked, user=reading.request.user, split=reading.split, index=reading.index)


def _show(reading: BoardReading, shows: Sequence[Show]) -> Show:
    """Return which choice of questions is shown; raise `UnreadableAddress` if these rows don't allow it."""
    name = reading.asked.value(SHOW, shows[0].name)
    found = next((one for one in shows if one.name == name), None)
    if found is None:
        raise UnreadableAddress(
            f"Expected to show one of {', '.join(one.name for one in shows)} for these rows, got {shorten(name)}."
        )
    return found


class ListedQuestion(NamedTuple):
    """A question with its picture (or None), its right answer, and of each row the answers and the reply (or None)."""

    question: Question
    picture: Picture | None
    answer: str
    given: list[list[RowAnswers]]
    replies: list[Excerpt | None]

    @property
    def cells(self) -> list[tuple[list[RowAnswers], Excerpt | None]]:
        return list(zip(self.given, self.replies, strict=True))


def list_questions(reading: BoardReading, positions: Sequence[int]) -> list[ListedQuestion]:
    """Return questions of a split by their positions, with the answers of the chosen rows."""
    index, ground = reading.index, reading.ground
    outside = [answers_outside(entry, index) for entry in reading.chosen]
    excerpts = [excerpts_of(entry, index, positions) for entry in reading.chosen]
    with_pictures = may_see(reading.request.user, reading.split, What.IMAGE)
    found = []
    for question in items.questions_at(reading.split, list(positions)):
        at = question.position
        said = [given(ground, one, at, words) for one, words in zip(reading.contenders, outside, strict=True)]
        code = int(index.answers[at])
        picture = picture_of(question.scene, reading.split, small=True) if with_pictures else None
        answer = index.answer_values[code] if code < len(index.answer_values) else ""
        found.append(ListedQuestion(question, picture, answer, said, [one.get(at) for one in excerpts]))
    return found


def answers_outside(entry: Entry, index: SplitIndex) -> list[Mapping[int, str]]:
    """Return for each run its answers outside the vocabulary, by the question's position in the entry's split."""
    found: list[Mapping[int, str]] = []
    for submission in entry.submissions:
        said = stored_predictions.load(submission.predictions).outside
        if submission.split_id != entry.split.pk:
            placed = {index.place_of(at): text for at, text in said.items()}
            said = {at: text for at, text in placed.items() if at is not None}
        found.append(said)
    return found
