"""The steps of a participant in a study: joining, moving from stage to stage, answering, and leaving with a code."""

import uuid

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotations.answering import (
    answer_forms,
    color_vision,
    participants,
    question_tokens,
    questions,
    slot_assignment,
    throttle,
    timing,
)
from annotations.answering.answer_forms import swatches_of
from annotations.answering.participants import judge
from annotations.answering.questions import TRIES, AskedItem
from annotations.answering.session import QUESTION, GivenAnswer, SessionItem, Sitting
from annotations.answering.slot_assignment import Reply
from annotations.models import Answer, EasyAnswer, Participant, Study
from generation.engine.errors import EngineError
from generation.engine.items import AnswerForm, AnswerKind

Stage = Participant.Stage
ORDER = (Stage.CONSENT, Stage.PALETTE, Stage.INSTRUCTIONS, Stage.PRACTICE, Stage.QUESTIONS)
BEFORE = ORDER[:-1]  # the stages before the questions
ENDS = (Stage.COMPLETED, Stage.SCREENED_OUT, Stage.FULL)


class FlowRefused(EngineError):
    """The visitor can't take part now, or sent something that does not fit the question or form."""


class TooManyAnswers(FlowRefused):
    def __init__(self, reason: str, *, wait: float = throttle.A_MINUTE) -> None:
        super().__init__(reason)
        self.wait = wait  # seconds until new requests are accepted


class NoEntry(FlowRefused):
    def __init__(self, reason: str, *, title: str, code: str = "") -> None:
        super().__init__(reason)
        self.title, self.code = title, code  # the code is for the platform that sent the visitor


class Elsewhere(FlowRefused):
    """Somebody came with this identity before, and it may be another person."""


# Joining


def join(
    study: Study,
    *,
    identity: str,
    session: str,
    there: str = "",
    placeholders: str = "",
    is_test: bool = False,
    anew: bool = False,
) -> Participant:
    """Return the participant who follows a study's link: the one with the same identity and session, or a new one.

    `there` is the platform's name for the study; it and `placeholders` are stored with a new participant, but have no
    effect (`annotations.answering.platform_names` reads all four from the address). Anybody can type any identity.
    Therefore nobody is refused because somebody else used their identity: with `anew` the visitor becomes a new
    participant, and the researcher sees both participants.

    Raises
    ------
    Elsewhere
        If somebody came with this identity before, and `anew` is not set.
    NoEntry
        If the study is not open, or the person took part in a study whose participants it excludes.
    TooManyAnswers
        If too many people come.
    """
    known = _known(study, identity, session)
    if known is None:
        _check_open(study, is_test=is_test)
        if not anew and _is_taken(study, identity, session):
            raise Elsewhere("Expected somebody new, got a name that somebody came with.", where=study.person_parameter)
        if throttle.is_crowded(study):
            raise TooManyAnswers(
                f"Expected at most {throttle.JOINING} new people a minute, got more. Try again in a minute."
            )
        _check_new(study, identity)
        try:
            with transaction.atomic():
                new = Participant.objects.create(
                    study=study,
                    identity=identity,
                    session=session,
                    study_there=there,
                    placeholders=placeholders,
                    is_test=is_test,
                )
        except IntegrityError:
            known = _known(study, identity, session)
        else:
            leave_early(new)
            return new
    assert known is not None  # only the constraint on identity and session can refuse the row
    return known


def _known(study: Study, identity: str, session: str) -> Participant | None:
    if not identity or not session:
        return None
    return Participant.objects.filter(study=study, identity=identity, session=session).first()


def _is_taken(study: Study, identity: str, session: str) -> bool:
    """Return whether somebody has this identity in another session; sessions without any question left do not count."""
    if not identity:
        return False
    others = Participant.objects.filter(study=study, identity=identity).exclude(stage=Stage.FULL)
    return (others.exclude(session=session) if session else others).exists()


def _check_new(study: Study, identity: str) -> None:
    """Raise `NoEntry` if the person took part in a study whose participants this study excludes, or was erased here."""
    if participants.took_part(study, identity):
        raise NoEntry(
            "It is only for people who did not take part in an earlier study, and you did. Thank you for that.",
            title="This study is for other people",
        )


def _check_open(study: Study, *, is_test: bool) -> None:
    """Raise `NoEntry` unless the study accepts new participants now; the test link always works."""
    now = timezone.now()
    if is_test:
        return
    is_early = study.opens is not None and now < study.opens
    if study.is_draft or is_early:
        when = f"{timezone.localtime(study.opens):on %Y-%m-%d at %H:%M (%Z)}" if study.opens and is_early else "later"
        raise NoEntry(
            f"Please come back {when}: the same link works then.",
            title="This study has not opened yet",
            code=study.full,
        )
    if study.state == Study.State.CLOSED or (study.closes is not None and now >= study.closes):
        raise NoEntry(
            "New people cannot take part at the moment. Thank you for coming. If you took part before, your own link "
            "still shows where you stopped, and your code.",
            title="This study is closed",
            code=study.full,
        )


# Stages


def advance(participant: Participant, stage: str) -> None:
    # A second call changes nothing, because the participant is no longer at this stage.
    _move(participant, stage, _after(participant.study, stage))


def _after(study: Study, stage: str) -> str:
    """Return the next stage; the colour check and practice are skipped if the study does not have them."""
    passed = {
        Stage.PALETTE: len(set(swatches_of(study.split).values())) < 2,
        Stage.PRACTICE: questions.practice_of(study) == 0,
    }
    later = ORDER[[str(one) for one in ORDER].index(stage) + 1 :]
    return next(one for one in later if not passed.get(one, False))


def _move(participant: Participant, old: str, new: str, **changes: object) -> bool:
    """Move a participant from stage `old` to stage `new`; return False if they were not at stage `old`."""
    if new in ENDS:
        changes |= {"finished": Now(), "ending": participant.study.ending_of(new)}
    moved = Participant.objects.filter(pk=participant.pk, stage=old).update(stage=new, **changes)
    participant.refresh_from_db()
    if moved == 1 and old == Stage.QUESTIONS:
        judge(participant)
    return moved == 1


def tell_apart(participant: Participant, answers: list[bool]) -> None:
    """Store how many pairs of colours a participant confused, and move them to the next stage or screen them out."""
    wrong = color_vision.mistakes(color_vision.pairs_for(participant, swatches_of(participant.study.split)), answers)
    leaves = color_vision.is_mistaken(wrong) and participant.study.palette == Study.Palette.SCREEN_OUT
    new = Stage.SCREENED_OUT if leaves else _after(participant.study, Stage.PALETTE)
    if _move(participant, Stage.PALETTE, new, mistaken=wrong) and color_vision.gets_colour_free(participant):
        color_vision.mark(participant.study)


def finish_questions(sitting: Sitting) -> None:
    """Move a participant for whom no question is left now out of the stage of questions.

    A participant without any answer stays while others hold the remaining questions, because these may become free.
    """
    if sitting.answered:
        _move(sitting.participant, Stage.QUESTIONS, Stage.COMMENT)
    elif not slot_assignment.may_wait(sitting.participant):
        _move(sitting.participant, Stage.QUESTIONS, Stage.FULL)


def leave_early(participant: Participant) -> None:
    """End the session of a participant who will not get any question.

    If the study is closed, this is any participant before the stage of questions. If the study has all its answers, it
    is any participant who has not given consent. Participants of the test link are not affected.
    """
    study, stage = participant.study, participant.stage
    if participant.is_test or stage not in BEFORE:
        return
    is_closed = study.state == Study.State.CLOSED
    if is_closed or (stage == Stage.CONSENT and not slot_assignment.is_anything_unanswered(study)):
        _move(participant, stage, Stage.FULL)


def is_waiting(participant: Participant) -> bool:
    """Return whether the participant can't begin or continue now, only because others hold all remaining questions."""
    if participant.is_test:
        return False
    match participant.stage:
        case Stage.QUESTIONS:
            return slot_assignment.may_wait(participant)
        case Stage.CONSENT:
            return slot_assignment.may_wait(participant) and not slot_assignment.has_slot_to_give(participant.study)
    return False


def come_again(participant: Participant) -> bool:
    """Continue the session of a participant for whom no question was left, if one may be left now.

    Return whether the session continues.
    """
    if participant.stage != Stage.FULL or participant.is_test or not slot_assignment.may_wait(participant):
        return False
    has_practised = participant.tries > 0 or participant.given.exists()
    stage = Stage.QUESTIONS if has_practised else Stage.CONSENT
    return _move(participant, Stage.FULL, stage, finished=None, ending="")


def comment(participant: Participant, text: str) -> None:
    _move(participant, Stage.COMMENT, Stage.COMPLETED, comment=text)


# Answering


def take(sitting: Sitting, found: AskedItem, reply: Reply) -> None:
    """Store an answer to an item that was given to a participant. If the same reply comes again, nothing changes.

    Raises
    ------
    FlowRefused
        If the reply is not one of the possible answers to the question, or changes an answer that is not the latest.
    NotGiven
        If the question was not given to the participant, or the reply contradicts a stored reply.
    """
    _check(found, reply)
    _check_last(sitting, found.item, reply)
    if found.item.kind == QUESTION:
        held = sitting.held.get(found.item.number)
        slot_assignment.answer(sitting.participant, found.item.number, reply, held=held)
    else:
        _keep_easy(sitting.participant, found, reply)
    if found.item.kind == EasyAnswer.Kind.PRACTICE:
        _judge(sitting.participant)
    else:
        sitting.note(GivenAnswer(found.item, reply.text, reply.turn, reply.client, timezone.now()))


def _check_last(sitting: Sitting, item: SessionItem, reply: Reply) -> None:
    """Raise `FlowRefused` if the reply changes an answer that is not the latest; only the latest can be changed."""
    before = sitting.said.get(item)
    if before is None or before.client == reply.client or (sitting.last is not None and sitting.last.item == item):
        return
    mine = sitting.participant
    if not any(stored.filter(client=reply.client).exists() for stored in (mine.answers, mine.easy_answers)):
        raise FlowRefused(
            "You can change only your last answer, and this is an earlier one. Reload the page.", where="token"
        )


def _check(found: AskedItem, reply: Reply) -> None:
    if bool(reply.text) == bool(reply.refusal):
        raise FlowRefused("Expected an answer, or a reason why you cannot answer.", where="answer")
    if reply.text and reply.text not in found.form.choices and not _is_composed(found, reply.text):
        raise FlowRefused("Expected one of the answers of this question, got another one.", where="answer")
    if reply.refusal and reply.refusal not in Answer.Refusal.values:
        raise FlowRefused(f"Expected one of {', '.join(Answer.Refusal.values)}, got another.", where="refusal")


def _is_composed(found: AskedItem, text: str) -> bool:
    return bool(found.form.parts) and found.form.put_together(found.form.taken_apart(text)) == text


def _keep_easy(participant: Participant, found: AskedItem, reply: Reply) -> None:
    """Store an answer to a practice, check or attention item, unless it is already stored.

    Raises
    ------
    FlowRefused
        If it is an answer to a practice question that was not given yet, or its id is that of another item's answer.
    """
    item = found.item
    mine = participant.easy_answers
    is_practice = item.kind == EasyAnswer.Kind.PRACTICE
    if is_practice and item.number > mine.filter(kind=item.kind).count():
        raise FlowRefused(
            "This answer is for a question that was not given to you yet. Reload the page.", where="token"
        )
    row = EasyAnswer(
        participant=participant,
        kind=item.kind,
        number=item.number,
        position=found.position,
        client=reply.client,
        turn=0 if is_practice else reply.turn,
        text=reply.text,
        is_right=bool(reply.text) and reply.text == found.right,
        visible=reply.visible,
    )
    with transaction.atomic():
        _lock(participant)
        same = mine.filter(client=reply.client).first()
        if same is not None and (same.kind, same.number) != item:
            raise FlowRefused("Expected a new id for a new answer, got the id of another answer.", where="client")
        before = mine.current().filter(kind=item.kind, number=item.number).first()
        if same is not None or (before is not None and is_practice):
            return
        if before is not None:
            row.superseded = before.turn > row.turn
            if not row.superseded:
                mine.filter(pk=before.pk).update(superseded=True)
        row.save(force_insert=True)


def _lock(participant: Participant) -> None:
    list(Participant.objects.select_for_update(no_key=True).filter(pk=participant.pk).values_list("pk"))


def _judge(participant: Participant) -> None:
    """When a try at practice is complete, move the participant on, start the next try, or screen them out."""
    study = participant.study
    size, tries = questions.practice_of(study), participant.tries
    answers = list(practice_of(participant, tries))
    if participant.stage != Stage.PRACTICE or len(answers) < size:
        return
    done = {"tries": tries + 1}
    if sum(answer.is_right for answer in answers) >= min(study.practice_right, size):
        _move(participant, Stage.PRACTICE, _after(study, Stage.PRACTICE), **done)
    elif tries + 1 >= TRIES:
        _move(participant, Stage.PRACTICE, Stage.SCREENED_OUT, **done)
    else:
        Participant.objects.filter(pk=participant.pk, stage=Stage.PRACTICE, tries=tries).update(**done)
        participant.refresh_from_db()


def practice_of(participant: Participant, number: int) -> list[EasyAnswer]:
    size = questions.practice_of(participant.study)
    numbers = range(number * size, (number + 1) * size)
    return list(participant.easy_answers.filter(kind=EasyAnswer.Kind.PRACTICE, number__in=numbers))


def join_parts(form: AnswerForm, parts: list[str]) -> str:
    """Return the answer that is composed of the ticked parts; raise `FlowRefused` if they form no answer."""
    found = answer_forms.join_parts(form, parts)
    if found is None:
        raise FlowRefused(_wrong_parts(form), where="answer")
    return found


def _wrong_parts(form: AnswerForm) -> str:
    if form.kind == AnswerKind.SEQUENCE:
        return f"Please choose one of {', '.join(form.parts)} in each of the {form.length} places."
    return "Please choose at least one word" + (f", or only “{form.empty}”." if form.empty else ".")


def new_reply(*, text: str, refusal: str, client: str, numbers: dict[str, str]) -> Reply:
    """Return the submitted fields as a `Reply`; raise `FlowRefused` if they are not valid.

    An invalid `turn` is refused, because `turn` decides which answer is current. A time that is missing or not valid is
    not refused: it is stored as not reported, and the answer is kept.
    """
    try:
        made = uuid.UUID(client)
    except ValueError as error:
        raise FlowRefused("Expected a UUID, got something else.", where="client") from error
    times = {name: timing.reported_milliseconds(numbers.get(name, "")) for name in ("visible", "idle")}
    return Reply(client=made, text=text, refusal=refusal, turn=_turn(numbers.get("turn", "")), **times)


MOST_TURNS = 1000


def _turn(text: str) -> int:
    """Return how often the answer was changed; 0 if the text is empty."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise FlowRefused("Expected a whole number, got something else.", where="turn")
    if int(text) > MOST_TURNS:
        raise FlowRefused(f"Expected a whole number up to {MOST_TURNS}, got a larger one.", where="turn")
    return int(text)


def item_named(sitting: Sitting, token: str) -> SessionItem | None:
    found = question_tokens.find(sitting.participant, token, among=map(str, questions.items_of(sitting)))
    return None if found is None else SessionItem.read(found)
