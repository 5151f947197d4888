"""Studies of what a filter finds: the filter read and said in words, its questions frozen when the study opens.

Freezing makes a question set of them, which is the study's split from then on. The sample that is drawn of it is the
one that the draft foretold: chance is that of the split which has the questions.
"""

import copy
from urllib.parse import urlencode

import numpy as np
from django.db import transaction
from django.urls import reverse

from annotations.models import Study
from generation.access import Visitor, owns
from generation.engine.errors import EngineError
from generation.extensions import Link
from generation.making import datasets
from generation.models import Job, Split
from generation.splits import question_sets
from generation.splits.recipes import BadRecipe, Chooser, Positions, Recipe, in_words, plain_filter, read_recipe
from generation.storage.index import SplitIndex

NAMES = 20  # that are tried for a question set


class BadFilter(EngineError):
    """No study can be made of what a filter finds."""


def plain(split: Split, text: str, *, user: Visitor) -> str:
    """Return a filter in its plain form, empty where it lets everything through; raise `BadFilter`."""
    if not text.strip():
        return ""
    try:
        found = plain_filter(Chooser(split, SplitIndex.open(split)).read_filter(text))
        if found:
            _recipe(split, found)
            question_sets.check_parent(split)
    except BadRecipe as error:
        raise BadFilter(error.reason, where="filter") from error
    if found and not owns(user, split.dataset):
        raise BadFilter(
            f"Expected a dataset of yours, for the study adds a question set to it, got {split.dataset}: ask its owner "
            "for a question set, and make a study of that.",
            where="filter",
        )
    return found


def pool(study: Study, index: SplitIndex) -> Positions:
    """Return which questions of a study's split it may ask: all, or those that its filter finds; raise `BadFilter`."""
    if not study.filter or study.is_frozen:
        return np.arange(index.n)
    try:
        query = Chooser(study.split, index).read_filter(study.filter)
    except BadRecipe as error:
        raise BadFilter(error.reason, where="filter") from error
    found = index.select(query.filters, query.each_word)
    if not len(found):
        raise BadFilter(
            f"Expected a filter that finds questions of {study.split}, got one that none passes.", where="filter"
        )
    return found


def said(study: Study) -> str:
    """Return in words which questions a study's filter finds, and how many; empty where there is no filter."""
    if not study.filter:
        return ""
    split = study.split.source
    if study.is_frozen:
        return question_sets.described(study.split)
    try:
        index = SplitIndex.open(split)
        n = len(pool(study, index))
    except (BadFilter, LookupError):
        return ""
    return in_words(_recipe(split, study.filter), n=n, parent=split, index=index)


def address_of(study: Study) -> str:
    """Return where the questions that a study may ask are browsed."""
    split = study.split.source if study.is_frozen else study.split
    return f"{split.get_absolute_url()}?{study.filter}" if study.filter else split.get_absolute_url()


def offer(split: Split, text: str) -> Link:
    named = {"split": split, **({"filter": text} if text and not split.is_derived else {})}
    label = "Make a study of what is found" if "filter" in named else "Make a study of it"
    return Link(label, f"{reverse('study_new')}?{urlencode(named, safe='/')}")


def _recipe(split: Split, text: str) -> Recipe:
    return read_recipe({"parent": split.name, "filter": text})


# Freezing


def as_planned(study: Study) -> Study:
    """Return a study as it is; one whose question set isn't there yet, as it was before that was begun."""
    if not study.is_frozen or study.split.is_complete:
        return study
    planned = copy.copy(study)
    planned.split = study.split.source
    return planned


def freeze(study: Study) -> None:
    """Make a question set of what a draft's filter finds, once, however often and by however many it is asked for.

    Where that takes long, or somebody else is at it, the set is not complete afterwards: asked again, this goes on.
    Raises `BadFilter` where there can't be such a set.
    """
    if study.is_frozen and study.split.state == Split.State.FAILED:
        _drop(study)
    try:
        with transaction.atomic():
            locked = Study.objects.select_for_update(of=("self",)).select_related("split").get(pk=study.pk)
            if locked.is_draft and not locked.is_frozen:
                parent = Split.objects.for_browse().get(pk=locked.split_id)
                job = question_sets.create(parent, name=_name(locked), recipe=_recipe(parent, locked.filter))
                Study.objects.filter(pk=study.pk).update(split=job.split)
    except BadRecipe as error:
        raise BadFilter(error.reason, where="filter") from error
    _refresh(study)
    waiting = Job.objects.filter(split=study.split, kind=Job.Kind.DERIVE, state=Job.State.WAITING).first()
    if waiting is not None and study.split.questions > question_sets.AT_ONCE:
        datasets.wake(1)
    elif waiting is not None:
        datasets.run_waiting(waiting)
        _refresh(study)


def trouble(study: Study) -> str:
    """Return what became of a question set that isn't complete; empty where it is, or there is none."""
    if not study.is_frozen or study.split.is_complete:
        return ""
    name = study.split.name
    if study.split.state != Split.State.FAILED:
        return f"Its questions are being made the question set {name}. Open the study once that is complete."
    failed = Job.objects.filter(split=study.split, state=Job.State.FAILED).first()
    why = "" if failed is None else f" {failed.message}"
    return f"Its questions could not be made the question set {name}.{why} Open it to try again."


def _drop(study: Study) -> None:
    """Take back a question set that failed."""
    failed = study.split
    Study.objects.filter(pk=study.pk, split=failed).update(split=failed.source)
    _refresh(study)
    if not Study.objects.filter(split=failed).exists():
        question_sets.remove(failed)


def _name(study: Study) -> str:
    """Return a name for a study's question set that no split has; the study's code is for participants alone."""
    taken = set(study.split.dataset.splits.values_list("name", flat=True))
    names = [f"study-{study.pk}", *(f"study-{study.pk}-{number}" for number in range(2, NAMES))]
    return next((name for name in names if name not in taken), names[-1])


def _refresh(study: Study) -> None:
    study.refresh_from_db()
    study.split = Split.objects.for_browse().get(pk=study.split_id)
