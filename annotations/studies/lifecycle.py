"""Checks a study before it opens, and opens, closes and reopens it."""

from collections.abc import Iterator

from django.db import transaction
from django.db.models.functions import Now

from annotations import markdown
from annotations.answering import exclusion_rules, slot_assignment
from annotations.answering.questions import positions as easy_positions
from annotations.models import Study, StudyText
from annotations.studies import planning, question_filter, sampling
from annotations.studies.planning import Plan
from annotations.studies.question_filter import BadFilter
from annotations.studies.sampling import BadSample, Sample
from generation.access import Visitor, What, may_see
from generation.engine.errors import EngineError
from generation.engine.items import Media
from generation.models import Split
from generation.storage.split_index import SplitIndex

# A user who makes a study of a split must be allowed to see all of these parts of the split.
SHOWN = (What.IMAGE, What.STORY, What.QUESTION, What.ANSWER, What.FACET, What.HUMAN_ANSWERS)
ENDS = {
    "completed": "people who finish",
    "screened_out": "people who are screened out",
    "full": "people who come when no questions are left",
}


class NotReady(EngineError):
    """The study can't be opened yet; `where` is the field with the problem."""


def problems(study: Study) -> list[NotReady]:
    """Return all problems because of which a draft can't be opened."""
    study = question_filter.as_planned(study)
    of_filter = list(_of_filter(study))
    found = [*_of_split(study), *of_filter, *_of_ends(study), *_of_times(study), *_of_texts(study)]
    if study.split.is_complete and not of_filter:
        try:
            found += _of_practice(study, sampling.draw(study))
        except BadSample as error:
            found.append(NotReady(error.reason, where=error.where))
    return found


def open_study(study: Study) -> None:
    """Open a draft: draw its sample, create the slots, fix the exclusion rules, and write the minutes into the texts.

    If the study has a filter, a question set is first made of the filter's results. If the draft can't be opened, this
    raises `NotReady` with the first problem. A second call changes nothing.
    """
    if not study.is_draft:
        return
    for problem in problems(study):
        raise problem
    if study.filter and not _freeze(study):
        return
    sample, plan = sampling.draw(study), planning.plan(study)
    with transaction.atomic():
        _write_minutes(study, plan)
        Study.objects.filter(pk=study.pk, state=Study.State.DRAFT, reward=None).update(reward=plan.pay)
        slot_assignment.lay_out(study, sample.places, ranks=sample.ranks)
        exclusion_rules.freeze(study)
        keep_texts(study)
    if study.easy is not None:
        easy_positions(study.easy, least=1)  # computed and cached now, so that no participant has to wait


def _write_minutes(study: Study, plan: Plan) -> None:
    """Replace the placeholder for the minutes in a draft's texts with the plan's minutes."""
    now = Study.objects.select_for_update().get(pk=study.pk)
    if now.is_draft:
        for kind in StudyText.Kind.values:
            fields = markdown.replace_text(now, kind, planning.MINUTES, str(plan.whole_minutes))
            Study.objects.filter(pk=study.pk).update(**fields)


def _freeze(study: Study) -> bool:
    """Make a question set of the filter's results, and return whether the study is still a draft.

    Raises `NotReady` until the set is complete.
    """
    try:
        question_filter.freeze(study)
    except BadFilter as error:
        raise NotReady(error.reason, where=error.where) from error
    if study.is_draft and not study.split.is_complete:
        raise NotReady(question_filter.trouble(study), where="split")
    return study.is_draft


def close(study: Study) -> bool:
    # No more questions are given; given ones can still be answered.
    changed = Study.objects.filter(pk=study.pk, state=Study.State.OPEN).update(state=Study.State.CLOSED, closed=Now())
    study.refresh_from_db()
    return changed == 1


def reopen(study: Study) -> bool:
    changed = Study.objects.filter(pk=study.pk, state=Study.State.CLOSED).update(state=Study.State.OPEN, closed=None)
    study.refresh_from_db()
    return changed == 1


def keep_texts(study: Study) -> None:
    """Store the texts of an opened study that differ from the last stored version; earlier versions are kept."""
    if study.is_draft:
        return
    for kind in StudyText.Kind:
        text = getattr(study, kind)
        last = StudyText.objects.filter(study=study, kind=kind).last()
        if last is None or last.text != text:
            StudyText.objects.create(study=study, kind=kind, text=text)


def may_study(user: Visitor, split: Split) -> bool:
    return all(may_see(user, split, what) for what in SHOWN)


def easy_splits(split: Split) -> list[Split]:
    """Return the splits that can be used for practice: other complete splits of the same world with open answers."""
    others = Split.objects.for_browse().filter(
        dataset__world=split.dataset.world, state=Split.State.COMPLETE, withheld=False
    )
    return list(others.exclude(pk=split.pk).order_by("-dataset", "ordinal"))


def _of_split(study: Study) -> Iterator[NotReady]:
    if not study.split.is_complete:
        yield NotReady(
            f"Expected a complete split, got {study.split}, whose state is {study.split.state}.", where="split"
        )
    if not may_study(study.owner, study.split):
        yield NotReady(f"Answers of {study.split} are withheld from {study.owner}.", where="split")
    dataset = study.split.dataset
    if dataset.get_world().media == Media.IMAGE and not dataset.with_images:
        yield NotReady(
            f"Expected a dataset with pictures, got {dataset}, which was made without any.",
            where="split",
        )


def _of_filter(study: Study) -> Iterator[NotReady]:
    if study.split.is_complete and not study.is_frozen:
        try:
            question_filter.plain(study.split, study.filter, user=study.owner)
        except BadFilter as error:
            yield NotReady(error.reason, where=error.where)


def _of_ends(study: Study) -> Iterator[NotReady]:
    for name, who in ENDS.items():
        if not getattr(study, name):
            yield NotReady(f"Expected a code, or an https address, for {who}, got none.", where=name)


def _of_times(study: Study) -> Iterator[NotReady]:
    if study.opens is not None and study.closes is not None and study.opens >= study.closes:
        yield NotReady("Expected a closing time after the opening time, got one that is not later.", where="closes")


def _of_texts(study: Study) -> Iterator[NotReady]:
    for kind in StudyText.Kind:
        if not getattr(study, kind).strip():
            yield NotReady("Expected a text for participants, got none.", where=kind)


def _of_practice(study: Study, sample: Sample) -> Iterator[NotReady]:
    """Yield the problems of the split from which practice and check questions are taken."""
    if study.easy is None:
        if study.practice or study.checks:
            yield NotReady(
                "Expected a split for practice and check questions, got none. Without one, set both to 0.", where="easy"
            )
        return
    if study.practice_right > study.practice:
        yield NotReady(
            f"Expected at most {study.practice}, the number of practice questions, got {study.practice_right}.",
            where="practice_right",
        )
    easy = study.easy
    if easy.dataset.world != study.split.dataset.world:
        yield NotReady(
            f"Expected a split of the same world, got {easy} of the world {easy.dataset.world}.", where="easy"
        )
    elif not easy.is_complete or easy.withheld:
        yield NotReady(
            f"Expected a complete split whose answers are open, got {easy}. Practice shows the right answers.",
            where="easy",
        )
    elif easy.pk == study.split.pk or _overlap(study.split, sample, easy):
        yield NotReady(
            f"Expected a split without questions of the study, got {easy}. Practice would show their right answers.",
            where="easy",
        )


def _overlap(split: Split, sample: Sample, easy: Split) -> bool:
    """Return whether another split contains a question of the sample."""
    if split.source.pk != easy.source.pk:
        return False
    index, other = SplitIndex.open(split), SplitIndex.open(easy)
    asked = index.in_source(sample.positions.tolist())
    return any(other.place_of(position) is not None for position in asked)
