"""Reads and describes the filters of studies, and makes a question set of a filter's results when the study opens.

The question set becomes the study's split. The sample stays the same as in the draft, because it is drawn with the
random numbers of the parent split.
"""

import copy
from urllib.parse import urlencode

import numpy as np
from django.db import transaction
from django.urls import reverse

from annotations.models import Study
from generation.access import Visitor, owns
from generation.engine.errors import EngineError
from generation.extension_points import Link
from generation.making import dataset_jobs
from generation.models import Job, Split
from generation.splits import question_sets
from generation.splits.split_recipes import BadRecipe, Chooser, Positions, Recipe, in_words, plain_filter, read_recipe
from generation.storage.split_index import SplitIndex

NAMES = 20  # this many names are tried for a question set


class BadFilter(EngineError):
    """The filter is not valid, or no study can be made of the questions that it finds."""


def plain(split: Split, text: str, *, user: Visitor) -> str:
    """Return a filter in its plain form; it is empty if the filter selects every question.

    Raises
    ------
    BadFilter
        If the filter is not valid, or the user may not add a question set to the dataset.
    """
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
            f"Expected one of your datasets, because a study with a filter adds a question set to the dataset, got "
            f"{split.dataset}. Ask its owner for a question set, and make a study of that question set.",
            where="filter",
        )
    return found


def pool(study: Study, index: SplitIndex) -> Positions:
    """Return the questions that a study may ask: all, or those that its filter finds.

    Raises
    ------
    BadFilter
        If the filter can't be read or finds no question.
    """
    if not study.filter or study.is_frozen:
        return np.arange(index.n)
    try:
        query = Chooser(study.split, index).read_filter(study.filter)
    except BadRecipe as error:
        raise BadFilter(error.reason, where="filter") from error
    found = index.select(query.filters, query.each_word)
    if not len(found):
        raise BadFilter(
            f"Expected a filter that finds questions of {study.split}, got one that finds none.", where="filter"
        )
    return found


def describe(study: Study) -> str:
    """Describe which questions a study's filter finds, and how many; empty if there is no filter or it is not valid."""
    if not study.filter:
        return ""
    split = study.split.source
    if study.is_frozen:
        return question_sets.describe_recipe(study.split)
    try:
        index = SplitIndex.open(split)
        n = len(pool(study, index))
    except (BadFilter, LookupError):
        return ""
    return in_words(_recipe(split, study.filter), n=n, parent=split, index=index)


def address_of(study: Study) -> str:
    split = study.split.source if study.is_frozen else study.split
    return f"{split.get_absolute_url()}?{study.filter}" if study.filter else split.get_absolute_url()


def offer(split: Split, text: str) -> Link:
    named = {"split": split, **({"filter": text} if text and not split.is_derived else {})}
    label = "Make a study of what is found" if "filter" in named else "Make a study of it"
    return Link(label, f"{reverse('study_new')}?{urlencode(named, safe='/')}")


def _recipe(split: Split, text: str) -> Recipe:
    return read_recipe({"parent": split.name, "filter": text})


# Making the question set


def as_planned(study: Study) -> Study:
    """Return the study; if its question set is not complete, return a copy of the study with the parent split."""
    if not study.is_frozen or study.split.is_complete:
        return study
    planned = copy.copy(study)
    planned.split = study.split.source
    return planned


def freeze(study: Study) -> None:
    """Make a question set of the results of a draft's filter; make it only once, even if several requests ask for it.

    If the question set is large, or another process is making it, it is not complete yet when this function returns.
    A later call continues the work; if the work has failed, it begins again. Raises `BadFilter` if the question set
    can't be made.
    """
    if study.is_frozen and study.split.state == Split.State.FAILED:
        _drop(study)
    try:
        with transaction.atomic():
            locked = Study.objects.select_for_update(of=("self",)).select_related("split").get(pk=study.pk)
            if locked.is_draft and not locked.is_frozen:
                parent = Split.objects.for_browse().get(pk=locked.split_id)
                job = question_sets.create(parent, name=_free_name(locked), recipe=_recipe(parent, locked.filter))
                Study.objects.filter(pk=study.pk).update(split=job.split)
    except BadRecipe as error:
        raise BadFilter(error.reason, where="filter") from error
    _refresh(study)
    waiting = Job.objects.filter(split=study.split, kind=Job.Kind.DERIVE, state=Job.State.WAITING).first()
    if waiting is not None and study.split.questions > question_sets.AT_ONCE:
        dataset_jobs.RUNNER.wake()
    elif waiting is not None:
        dataset_jobs.RUNNER.run_now(waiting)
        _refresh(study)


def trouble(study: Study) -> str:
    """Return why a study's question set is not complete; empty if it is complete or the study has none."""
    if not study.is_frozen or study.split.is_complete:
        return ""
    name = study.split.name
    if study.split.state != Split.State.FAILED:
        return f"The question set {name} for this study is being made. Open the study when {name} is complete."
    failed = Job.objects.filter(split=study.split, state=Job.State.FAILED).first()
    why = "" if failed is None else f" {failed.message}"
    return f"The question set {name} for this study could not be made.{why} Open the study to try again."


def _drop(study: Study) -> None:
    """Set the study's split to the parent split again, and delete the question set that could not be made."""
    failed = study.split
    Study.objects.filter(pk=study.pk, split=failed).update(split=failed.source)
    _refresh(study)
    if not Study.objects.filter(split=failed).exists():
        question_sets.remove(failed)


def _free_name(study: Study) -> str:
    # The name does not contain the study's code, because the code is a secret.
    taken = set(study.split.dataset.splits.values_list("name", flat=True))
    names = [f"study-{study.pk}", *(f"study-{study.pk}-{number}" for number in range(2, NAMES))]
    return next((name for name in names if name not in taken), names[-1])


def _refresh(study: Study) -> None:
    study.refresh_from_db()
    study.split = Split.objects.for_browse().get(pk=study.split_id)
