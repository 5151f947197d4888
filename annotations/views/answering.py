"""A question as a participant sees it, its picture, and what they answer."""

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotations import asked, flow, palette, tokens
from annotations.asked import QUESTION, Asked, Item, Progress
from annotations.assign import NotGiven
from annotations.choices import choices_of, swatches_of
from annotations.models import Answer, EasyAnswer, Participant
from annotations.views.private import NOTHING, find_participant, private, wants_json
from generation import linked

SEE_OTHER = 303
AN_HOUR = 3600  # seconds
ZOOMS = ("2", "4")
FIELDS = ("turn", "visible", "idle")


def question_context(
    participant: Participant, found: Asked, *, undone: Answer | None = None, zoom: str = ""
) -> dict[str, Any]:
    """Return what the page of an item shows; of one that is answered once more, `undone` is the answer before."""
    is_next = undone is None and participant.stage == flow.Stage.QUESTIONS
    is_practice = found.item.kind == EasyAnswer.Kind.PRACTICE
    return {
        "asked": found,
        "picture": _address(participant, found.item) if found.scene is not None and found.scene.has_picture else "",
        "ahead": _ahead(participant, found.item) if is_next and not is_practice else "",
        "choices": choices_of(found.form),
        "refusals": Answer.Refusal.choices,
        "token": tokens.token_of(participant, str(found.item)),
        "client": uuid.uuid4(),
        "turn": undone.turn + 1 if undone is not None else 0,
        "undone": undone,
        "can_undo": is_next and asked.last_answer(participant) is not None,
        "is_practice": is_practice,
        "progress": _practice_progress(participant) if is_practice else asked.progress(participant),
        "zoom": zoom if zoom in ZOOMS else "",
        "zooms": ZOOMS,
    }


def _practice_progress(participant: Participant) -> Progress:
    size = asked.practice_of(participant.study)
    return Progress(len(flow.practice_of(participant, participant.tries)), size)


def _ahead(participant: Participant, item: Item) -> str:
    """Return the address of the picture that comes after an item's, which is theirs from now on; empty for none."""
    following = asked.next_question(participant, besides=item if item.kind == QUESTION else None)
    return "" if following is None else _address(participant, following)


def _address(participant: Participant, item: Item) -> str:
    token = tokens.token_of(participant, str(item))
    return reverse("study_picture", args=[participant.study.code, participant.secret, token])


@private
@require_POST
def answer(request: HttpRequest, code: str, secret: str) -> HttpResponse:
    """Store an answer, and return the way to the next page; to a script as JSON."""
    participant = find_participant(code, secret)
    found = _given(participant, request.POST.get("token", ""))
    reply = flow.new_reply(
        text=request.POST.get("answer", ""),
        refusal=request.POST.get("refusal", ""),
        client=request.POST.get("client", ""),
        numbers={name: request.POST.get(name, "") for name in FIELDS},
    )
    flow.take(participant, found, reply)
    address = reverse("study_session", args=[code, secret])
    if found.item.kind == EasyAnswer.Kind.PRACTICE:
        address += f"?seen={found.item.number}"
    if wants_json(request):
        return JsonResponse({"saved": str(reply.client), "next": address})
    response = redirect(address)
    response.status_code = SEE_OTHER
    return response


def _given(participant: Participant, token: str) -> Asked:
    """Return what a token names; raise `NotGiven` for one that isn't this participant's."""
    item = flow.item_named(participant, token)
    found = asked.look_up(participant, item) if item is not None else None
    if found is None:
        raise NotGiven("Expected the token of a question that you were given, got another.", where="token")
    return found


@private
@require_safe
def picture(request: HttpRequest, code: str, secret: str, token: str) -> HttpResponse:
    """Return the picture of a question that a participant was given."""
    participant = find_participant(code, secret)
    item = flow.item_named(participant, token)
    found = asked.look_up(participant, item) if item is not None else None
    if found is None or found.scene is None:
        raise Http404(NOTHING)
    split = participant.study.split if found.item.kind == QUESTION else participant.study.easy
    assert split is not None
    try:
        content = linked.picture_bytes(found.scene, split.dataset)
    except OSError as error:
        raise Http404(NOTHING) from error
    return _kept(content, linked.type_of(found.scene.image or found.scene.linked))


@private
@require_safe
def pair(request: HttpRequest, code: str, secret: str, number: int) -> HttpResponse:
    """Return a pair of colours to tell apart."""
    participant = find_participant(code, secret)
    swatches = swatches_of(participant.study.split)
    if number >= palette.PAIRS or not swatches:
        raise Http404(NOTHING)
    return _kept(palette.drawn(palette.pairs_for(participant, swatches)[number]), "image/png")


def _kept(content: bytes, kind: str) -> HttpResponse:
    """Return a picture that the participant's own browser may keep for a while."""
    return HttpResponse(content, content_type=kind, headers={"Cache-Control": f"private, max-age={AN_HOUR}"})
