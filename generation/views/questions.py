"""A question's page: its picture, text and answer, and its program step by step."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from generation import extension_points
from generation.access import OPEN_WHILE_WITHHELD, Visitor, What, may_see, may_see_facet
from generation.browsing.import_report import lacking, why_no_picture
from generation.browsing.keyboard import OF_STORY, QUESTION
from generation.browsing.navigation import COOKIE, LIST, Visit, is_remembered, read_visit, trail_of
from generation.browsing.question import QuestionView, show
from generation.models import Question, Split
from generation.splits.query_string import ON, BadAddress, QueryString, shorten
from generation.storage import items
from generation.storage.split_index import IndexedFacet
from generation.views.access_checks import find_split, refuse

A_YEAR = 31_536_000  # seconds
MAX_DIGITS = 6


@require_safe
def question(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponse:
    """Return a question's page; `?step=4` shows the output of step 4 of its program.

    A filter or `?list=3,17,55` in the address determines the previous and the next question.
    """
    split = find_split(request.user, slug, name)
    asked = items.question_at(split, number)
    if asked is None:
        return refuse(request, split, _no_question(split, number), status=404)
    try:
        wanted = QueryString.of(request)
        trail = trail_of(wanted, user=request.user, split=split, position=number)
        visit = read_visit(wanted, remembers=is_remembered(request.COOKIES), trail=trail.pairs)
    except BadAddress as error:
        return refuse(request, split, str(error), status=400, question=asked)
    allowed = frozenset(what for what in What if may_see(request.user, split, what))
    if visit.hides:
        allowed &= OPEN_WHILE_WITHHELD
    shown = show(split, asked, allowed=allowed)
    if visit.step is not None and not _is_step(visit.step, shown):
        return refuse(request, split, _no_step(visit.step, shown), status=400, question=asked)
    others = items.others_of(split, asked)
    context = {
        "split": split,
        "dataset": split.dataset,
        "question": asked,
        "in_parent": items.position_in_source(split, number) if split.is_derived else None,
        "here": f"Question {asked.position}",
        "address": request.path,
        "answers_open": may_see(request.user, split, What.ANSWER),
        "shows_answer": What.ANSWER in allowed,
        "shows_source": What.SCENE in allowed,
        "people_said": extension_points.notes_on_question(request.user, split, number)
        if What.HUMAN_ANSWERS in allowed
        else [],
        "links": extension_points.links_for_question(request.user, split, number)
        if What.PER_QUESTION_RESULT in allowed
        else [],
        "shown": shown,
        "why_no_picture": why_no_picture(asked.scene, split, allowed=allowed),
        "lacking": lacking(asked, allowed=allowed),
        "player": shown.at(int(visit.step) if visit.step is not None else None),
        "facts": [fact for fact in shown.facts if _may_know(request.user, split, fact.facet, visit=visit)],
        "trail": trail,
        "visit": visit,
        "shortcuts": OF_STORY if split.dataset.tells else QUESTION,
        "others": others,
        "scene_list": _scene_list(asked, others) + visit.scene_stance if others else "",
    }
    return _answered(request, context, visit=visit)


def _answered(request: HttpRequest, context: dict[str, Any], *, visit: Visit) -> HttpResponse:
    """Return the page, or only its changing part for htmx; store the user's choice to answer first in a cookie."""
    htmx = HtmxDetails(request)
    is_part = bool(htmx) and not htmx.history_restore_request
    template = "generation/_question_part.html" if is_part else "generation/question.html"
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    if visit.ask:
        response.set_cookie(
            COOKIE, ON, max_age=A_YEAR, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax"
        )
    elif visit.ask is False and visit.remembers:
        response.delete_cookie(COOKIE, samesite="Lax")
    return response


def _may_know(user: Visitor, split: Split, facet: IndexedFacet, *, visit: Visit) -> bool:
    # A value that reveals the answer is hidden until the user answers.
    return may_see_facet(user, split, facet) and not (visit.hides and facet.reveals)


def _scene_list(asked: Question, others: list[Question]) -> str:
    return f"?{LIST}=" + ",".join(map(str, sorted([asked.position, *(other.position for other in others)])))


def _is_step(wanted: str, shown: QuestionView) -> bool:
    return wanted.isascii() and wanted.isdigit() and len(wanted) <= MAX_DIGITS and int(wanted) < len(shown.rows)


def _no_step(wanted: str, shown: QuestionView) -> str:
    if not shown.rows:
        return f"Expected no step, got {shorten(wanted)}: this question has no program to show."
    return f"Expected a step from 0 to {len(shown.rows) - 1}, got {shorten(wanted)}."


def _no_question(split: Split, number: int) -> str:
    if not split.is_complete:
        return f"Question {number:,} isn't made yet. The state of {split} is “{split.get_state_display()}”."
    return f"Expected a question from 0 to {split.questions - 1:,}, got {number:,}."
