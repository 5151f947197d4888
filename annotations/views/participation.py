"""Views for taking part in a study: the study's link, and the participant's page from the consent to the end."""

import math
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotations.answering import (
    color_vision,
    participant_flow,
    platform_names,
    question_tokens,
    questions,
    slot_assignment,
    throttle,
)
from annotations.answering.answer_forms import media_of
from annotations.answering.participant_flow import FlowRefused, Stage, TooManyAnswers
from annotations.answering.session import SessionItem, Sitting
from annotations.markdown import render_row
from annotations.models import EasyAnswer, Participant, Study
from annotations.views.answering import ASKING, next_question, question_context
from annotations.views.private_pages import ANEW, NOTHING, ending, find_sitting, page, private
from generation.site_addresses import network_of, site_address

SEE_OTHER = 303
LONGEST_COMMENT = 5000
SOON = 10.0  # the page for waiting participants is reloaded after at least this many seconds
SAME, DIFFERENT = "same", "different"


@private
@require_http_methods(["GET", "HEAD"])
def join(request: HttpRequest, code: str) -> HttpResponse:
    """Redirect to the participant's own page, whose URL does not contain the platform's names."""
    study = Study.objects.filter(code=code).first() if "\0" not in code else None
    if study is None:
        raise Http404(NOTHING)
    _check_arrivals(request)
    participant = participant_flow.join(
        study,
        **platform_names.read_address(study, request.GET)._asdict(),
        is_test=question_tokens.is_test(study, request.GET.get("test", "")),
        anew=bool(request.GET.get(ANEW)),
    )
    return _to_session(participant)


@private
@require_http_methods(["GET", "HEAD"])
def session(request: HttpRequest, code: str, secret: str) -> HttpResponse:
    """Return a participant's page for their current stage.

    `?seen=3` shows the right answer to practice question 3, `?again=1` asks the question with the latest answer again,
    `?zoom=2` doubles the size of the picture, and `?stop=1` explains what happens if the participant stops.
    """
    sitting = find_sitting(code, secret)
    participant = sitting.participant
    if "seen" in request.GET:
        return _page(request, participant, "feedback", _feedback(sitting, request.GET["seen"]))
    if "stop" in request.GET and participant.stage not in participant_flow.ENDS:
        return _page(request, participant, "stop", {"progress": questions.progress(sitting)})
    participant_flow.come_again(participant)
    participant_flow.leave_early(participant)
    if participant.stage in ASKING:
        context = next_question(sitting, is_again="again" in request.GET, zoom=request.GET.get("zoom", ""))
        if context is not None:
            return page("question", context)
        participant_flow.finish_questions(sitting)
    if participant_flow.is_waiting(participant):
        return _waiting(request, participant)
    stage = Stage(participant.stage)
    contexts = {Stage.CONSENT: _consent, Stage.PALETTE: _palette, Stage.INSTRUCTIONS: _instructions}
    if stage in contexts:
        return _page(request, participant, stage, contexts[stage](sitting))
    return _page(request, participant, "comment" if stage == Stage.COMMENT else "end", _end(sitting))


@private
@require_POST
def go_on(request: HttpRequest, code: str, secret: str) -> HttpResponse:
    """Process the form of a page without a question, and redirect to the next page."""
    participant = find_sitting(code, secret).participant
    stages = (Stage.CONSENT, Stage.PALETTE, Stage.INSTRUCTIONS, Stage.COMMENT)
    token = request.POST.get("token", "")
    stage = question_tokens.find(participant, token, among=[f"stage:{one}" for one in stages])
    if stage is None:
        raise FlowRefused("This page has changed since you opened it. Reload the page.", where="token")
    match stage.removeprefix("stage:"):
        case Stage.PALETTE:
            participant_flow.tell_apart(participant, _read_pairs(request))
        case Stage.COMMENT:
            participant_flow.comment(participant, request.POST.get("comment", "").replace("\0", "")[:LONGEST_COMMENT])
        case plain:
            if participant.stage == plain == Stage.CONSENT:
                throttle.arrivals.give_back(_origin(request))
            participant_flow.advance(participant, plain)
    return _to_session(participant)


def _check_arrivals(request: HttpRequest) -> None:
    """Count a visit to a study's link; raise `TooManyAnswers` if too many people of one network gave no consent yet."""
    wait = throttle.arrivals.wait(_origin(request))
    if wait:
        most = throttle.arrivals.most
        message = f"Expected at most {most:,} people from your network who have not agreed to take part yet, got more."
        raise TooManyAnswers(f"{message} Try again in {math.ceil(wait / 60)} minutes.", wait=wait)


def _origin(request: HttpRequest) -> str:
    return network_of(request.META.get("REMOTE_ADDR", ""))


def _waiting(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Return the page for a participant who can't continue because others hold all remaining questions."""
    study = participant.study
    seconds = max(SOON, slot_assignment.seconds_to_wait(study))
    context = {"minutes": math.ceil(seconds / 60), **ending(study.ending_of(Stage.FULL))}
    response = _page(request, participant, "waiting", context)
    response["Retry-After"] = str(math.ceil(seconds))
    return response


def _to_session(participant: Participant) -> HttpResponse:
    response = redirect("study_session", code=participant.study.code, secret=participant.secret)
    response.status_code = SEE_OTHER
    return response


def _page(request: HttpRequest, participant: Participant, name: str, context: dict[str, Any]) -> HttpResponse:
    """Render a participant's page; add the context that all these pages share."""
    address = reverse("study_session", args=[participant.study.code, participant.secret])
    shared = {
        "study": participant.study,
        "noun": media_of(participant.study.split).noun,
        "participant": participant,
        "address": address,
        "resume": site_address(request) + address,
        "token": question_tokens.token_of(participant, f"stage:{participant.stage}"),
    }
    return page(name, shared | context)


def _consent(sitting: Sitting) -> dict[str, Any]:
    return {"text": render_row(sitting.study, "consent"), "progress": questions.progress(sitting)}


def _instructions(sitting: Sitting) -> dict[str, Any]:
    study = sitting.study
    return {
        "text": render_row(study, "instructions"),
        "practice": questions.practice_of(study),
        "practice_right": min(study.practice_right, study.practice),
        "progress": questions.progress(sitting),
    }


def _palette(sitting: Sitting) -> dict[str, Any]:
    return {"numbers": range(color_vision.PAIRS), "width": 2 * color_vision.SIZE, "height": color_vision.SIZE}


def _read_pairs(request: HttpRequest) -> list[bool]:
    """Return for each pair of colours whether the participant said that both colours are the same."""
    answers = [request.POST.get(f"pair-{number}", "") for number in range(color_vision.PAIRS)]
    if any(answer not in (SAME, DIFFERENT) for answer in answers):
        raise FlowRefused(
            f"Please choose “{SAME}” or “{DIFFERENT}” for each of the {color_vision.PAIRS} pairs. Go back to choose."
        )
    return [answer == SAME for answer in answers]


def _feedback(sitting: Sitting, wanted: str) -> dict[str, Any]:
    """Return the template context with a practice answer and the right answer."""
    participant = sitting.participant
    known = participant.easy_answers.filter(kind=EasyAnswer.Kind.PRACTICE)
    row = (
        known.filter(number=int(wanted)).first() if wanted.isascii() and wanted.isdigit() and len(wanted) < 4 else None
    )
    found = questions.look_up(sitting, SessionItem(row.kind, row.number)) if row is not None else None
    if row is None or found is None:
        raise Http404(NOTHING)
    size = questions.practice_of(participant.study)
    number, place = divmod(row.number, size)
    context = question_context(sitting, found)
    answers = participant_flow.practice_of(participant, number)
    is_last = place + 1 == size
    return context | {
        "said": row,
        "right": found.right,
        "is_last": is_last,
        "tries_left": questions.TRIES - number - 1,
        "right_so_far": sum(answer.is_right for answer in answers),
        "needed": min(participant.study.practice_right, size),
        "place": place + 1,
        "size": size,
    }


def _end(sitting: Sitting) -> dict[str, Any]:
    return {"answered": sitting.answered, **ending(sitting.participant.ending)}
