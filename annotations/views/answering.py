"""Views that show questions and pictures to a participant, and store the answers."""

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotations.answering import (
    color_vision,
    participant_flow,
    pictures,
    question_tokens,
    questions,
    scene_cache,
    slot_assignment,
    timing,
)
from annotations.answering.answer_forms import choices_of, display_of, media_of, places_of, swatches_of
from annotations.answering.participant_flow import Stage
from annotations.answering.questions import AskedItem, SessionProgress
from annotations.answering.session import QUESTION, GivenAnswer, SessionItem, Sitting
from annotations.answering.slot_assignment import NotGiven
from annotations.models import Answer, EasyAnswer, Participant
from annotations.views.private_pages import NOTHING, find_sitting, private, wants_json
from generation.browsing.pictures import Picture, shown_at
from generation.engine.items import AnswerForm, Media
from generation.models import Dataset, Scene

SEE_OTHER = 303
AN_HOUR = 3600  # seconds
ZOOMS = ("2", "4")
FIELDS = ("turn", "visible", "idle")
PART = "part"
ASKING = (Stage.QUESTIONS, Stage.PRACTICE)


def next_question(sitting: Sitting, *, is_again: bool = False, zoom: str = "") -> dict[str, Any] | None:
    """Return the template context of the next item of a participant, or None if nothing is left.

    With `is_again`, the item with the latest answer is asked again, if there is one and practice is over. The function
    also stores that the item is shown now.
    """
    participant = sitting.participant
    undone, ahead = None, None
    if participant.stage == Stage.PRACTICE:
        item = questions.next_practice(participant)
    elif is_again and sitting.last is not None:
        undone = sitting.last
        item = undone.item
    else:
        items = questions.next_items(sitting)
        if not items:
            return None
        item, ahead = items[0], items[1] if len(items) > 1 else None
    found = questions.look_up(sitting, item)
    if found is None:
        raise Http404(NOTHING)
    timing.record_first_showing(participant, item)
    return question_context(sitting, found, undone=undone, ahead=ahead, zoom=zoom)


def question_context(
    sitting: Sitting,
    found: AskedItem,
    *,
    undone: GivenAnswer | None = None,
    ahead: SessionItem | None = None,
    zoom: str = "",
) -> dict[str, Any]:
    """Return the template context of an item.

    Parameters
    ----------
    undone : GivenAnswer, optional
        The previous answer, if the item is asked again.
    ahead : SessionItem, optional
        The next item, whose picture the page fetches in advance.
    zoom : str
        The factor by which the picture is enlarged; empty for the normal size.
    """
    participant = sitting.participant
    is_practice = found.item.kind == EasyAnswer.Kind.PRACTICE
    noun = media_of(participant.study.split).noun
    return {
        "study": sitting.study,
        "participant": participant,
        "asked": found,
        "picture": _picture(sitting, found),
        "noun": noun,
        "ahead": _address(sitting, ahead) if ahead is not None and noun == Media.IMAGE.noun else "",
        "choices": [] if found.form.parts else choices_of(found.form),
        "places": places_of(found.form),
        "refusals": [(value, label.replace(Media.IMAGE.noun, noun)) for value, label in Answer.Refusal.choices],
        "token": question_tokens.token_of(participant, str(found.item)),
        "client": uuid.uuid4(),
        "turn": undone.turn + 1 if undone is not None else 0,
        "undone": undone,
        "can_undo": undone is None and not is_practice and sitting.last is not None,
        "is_practice": is_practice,
        "progress": _practice_progress(participant) if is_practice else questions.progress(sitting),
        "zoom": zoom if zoom in ZOOMS else "",
        "zooms": ZOOMS,
    }


def _practice_progress(participant: Participant) -> SessionProgress:
    size = questions.practice_of(participant.study)
    return SessionProgress(len(participant_flow.practice_of(participant, participant.tries)), size)


def _picture(sitting: Sitting, found: AskedItem) -> Picture | None:
    """Return the picture of an item, or None if it has none."""
    if found.scene is None or not found.scene.has_picture:
        return None
    split = sitting.study.split if found.item.kind == QUESTION else sitting.study.easy
    assert split is not None
    address = _address(sitting, found.item)
    return shown_at(address, found.scene, display=display_of(split), alt="The picture that the question asks about")


def _address(sitting: Sitting, item: SessionItem) -> str:
    """Return the URL of an item's picture, and remember which question the URL belongs to."""
    participant = sitting.participant
    parts = (participant.study.code, participant.secret, question_tokens.token_of(participant, str(item)))
    if item.kind == QUESTION and item.number in sitting.given:
        scene_cache.remember(parts, participant.study.split, sitting.given[item.number].position)
    return reverse("study_picture", args=parts)


@private
@require_POST
def answer(request: HttpRequest, code: str, secret: str) -> HttpResponse:
    """Store an answer and redirect to the next page; a script gets JSON with the next question instead."""
    sitting = find_sitting(code, secret)
    sitting.read()
    found = _given(sitting, request.POST.get("token", ""))
    refusal = request.POST.get("refusal", "")
    reply = participant_flow.new_reply(
        text=request.POST.get("answer", "") if refusal else _text(request, found.form),
        refusal=refusal,
        client=request.POST.get("client", ""),
        numbers={name: request.POST.get(name, "") for name in FIELDS},
    )
    participant_flow.take(sitting, found, reply)
    address = reverse("study_session", args=[code, secret])
    is_practice = found.item.kind == EasyAnswer.Kind.PRACTICE
    if is_practice:
        address += f"?seen={found.item.number}"
    if wants_json(request):
        following = None if is_practice or sitting.participant.stage not in ASKING else next_question(sitting)
        shown = render_to_string("annotations/taking/_question.html", following) if following is not None else ""
        return JsonResponse({"saved": str(reply.client), "next": address, "page": shown})
    response = redirect(address)
    response.status_code = SEE_OTHER
    return response


@private
@require_POST
def here(request: HttpRequest, code: str, secret: str) -> HttpResponse:
    # While a page is being read, its question is not given to somebody who waits.
    slot_assignment.hear(find_sitting(code, secret).participant)
    return HttpResponse(status=204)


def _text(request: HttpRequest, form: AnswerForm) -> str:
    """Return the submitted answer: the text of a button, or an answer composed of the submitted parts.

    The parts of a sequence are submitted as one field per place.
    """
    text = request.POST.get("answer", "")
    if text or not form.parts:
        return text
    places = [request.POST.get(f"{PART}-{place}", "") for place in range(form.length)]
    return participant_flow.join_parts(form, places or request.POST.getlist(PART))


def _given(sitting: Sitting, token: str) -> AskedItem:
    """Return the item to which a token belongs; raise `NotGiven` if it was not given to this participant."""
    item = participant_flow.item_named(sitting, token)
    found = questions.look_up(sitting, item) if item is not None else None
    if found is None:
        raise NotGiven("This answer is for a question that was not given to you. Reload the page.", where="token")
    return found


@private
@require_safe
def picture(request: HttpRequest, code: str, secret: str, token: str) -> HttpResponse:
    """Return the picture of a question that the participant was given."""
    scene, dataset = scene_cache.scene_of((code, secret, token)) or _scene_of(code, secret, token)
    try:
        content, kind = pictures.picture_for(scene, dataset)
    except OSError as error:
        raise Http404(NOTHING) from error
    return _kept(content, kind)


def _scene_of(code: str, secret: str, token: str) -> tuple[Scene, Dataset]:
    """Return the scene and dataset of a question that was given to the participant; raise `Http404` if it was not."""
    sitting = find_sitting(code, secret)
    item = participant_flow.item_named(sitting, token)
    found = questions.look_up(sitting, item) if item is not None else None
    if found is None or found.scene is None:
        raise Http404(NOTHING)
    split = sitting.study.split if found.item.kind == QUESTION else sitting.study.easy
    assert split is not None
    return found.scene, split.dataset


@private
@require_safe
def pair(request: HttpRequest, code: str, secret: str, number: int) -> HttpResponse:
    """Return the picture of a pair of colours that the participant compares."""
    participant = find_sitting(code, secret).participant
    split = participant.study.split
    swatches = swatches_of(split)
    if number >= color_vision.PAIRS or not swatches:
        raise Http404(NOTHING)
    return _kept(color_vision.draw_pair(color_vision.pairs_for(participant, swatches)[number], split), "image/png")


def _kept(content: bytes, kind: str) -> HttpResponse:
    return HttpResponse(content, content_type=kind, headers={"Cache-Control": f"private, max-age={AN_HOUR}"})
