"""Fresh twins: a split's spec drawn again with a new secret, as a dataset with withheld answers.

A method that has learned the questions of the published split by heart has never seen the questions of a twin. The
secret is drawn when the twin is made, and it is kept as that of every split with withheld answers: the public spec
alone gives other scenes and questions.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Max

from generation.access import Visitor, is_researcher, may_mention
from generation.engine import ENGINE_VERSION
from generation.engine.errors import EngineError
from generation.engine.spec import BaseSpec
from generation.engine.worlds import get_maker, get_world
from generation.making import dataset_jobs
from generation.making.creation import create_dataset
from generation.models import Dataset, FreshTwin, Split
from generation.models.datasets import SLUG_PATTERN
from generation.program_version import PROGRAM
from generation.specs import estimates, limits

MOST = 29  # twins of a split for one account; with the split itself, a suite has 30 members at most
LEAST_QUESTIONS = 30  # no percentage is shown for fewer questions
LONGEST_SLUG = 60


class TwinRefused(EngineError):
    """A split cannot have a fresh twin, or not as many, or not with as many questions."""


def may_make_twin(user: Visitor, split: Split) -> bool:
    # The title of a twin names the split, so a link-only dataset of somebody else has no twins.
    return is_researcher(user) and may_mention(user, split.dataset)


def check_source(split: Split) -> None:
    """Raise `TwinRefused` if this split cannot have a twin, with the reason and what to do instead."""
    if split.is_derived:
        raise TwinRefused(
            f"Expected a generated split, got {split.name}, a question set of {split.source}. Make a fresh twin of "
            f"{split.source}, then make the same question set from the twin.",
            where=str(split),
        )
    if split.kind != Split.Kind.GENERATED:
        raise TwinRefused(
            "Expected a generated split, got an imported one. Its scenes were not made from a spec, so they cannot be "
            "drawn again.",
            where=str(split),
        )
    if FreshTwin.objects.filter(split=split).exists():
        raise TwinRefused(
            "Expected a split that is not a fresh twin, got one that is. Make further twins of the split that it is a "
            "twin of.",
            where=str(split),
        )
    if split.dataset.state != Dataset.State.COMPLETE:
        raise TwinRefused(
            f"Expected a complete dataset, got one that is {split.dataset.state}. Wait until it is complete.",
            where=str(split),
        )
    if split.dataset.engine_version != ENGINE_VERSION:
        raise TwinRefused(
            f"Expected a split made by engine {ENGINE_VERSION}, which this {PROGRAM} has, got one made by "
            f"{split.dataset.made_by}. Its twin would differ in more than chance. Make the dataset again with "
            "this release, and twins of that.",
            where=str(split),
        )
    _check_scenes(split)


def _check_scenes(split: Split) -> None:
    if split.read_spec().scene_files:
        raise TwinRefused(
            "Expected a split whose scenes are drawn from its spec, got one that asks about the scenes of a file. A "
            "twin would show the same scenes.",
            where=str(split),
        )
    if split.dataset.read_spec().scene_files:
        raise TwinRefused(
            "Expected a split of a dataset that asks about the scenes of a file only in the overrides of splits, got "
            "one whose spec names the file for all splits. The twin would have this file, from which answers follow.",
            where=str(split),
        )


def make_twins(split: Split, *, count: int = 1, questions: int | None = None, owner: Any = None) -> list[FreshTwin]:
    """Create fresh twins of a split with their waiting jobs, all of them or none, and return them.

    Parameters
    ----------
    split : Split
    count : int
        The number of twins. Each has its own secret.
    questions : int or None
        How many questions each twin has at least; None for as many as the split.
    owner : User or None
        The account that makes them, whose limits and quota apply; None for the command line.

    Raises
    ------
    TwinRefused
        If the split cannot have twins, or not so many.
    BadSpec
        If a twin is too large for a limit or a quota.
    """
    check_source(split)
    data = _spec_data(split, questions=questions)
    with transaction.atomic():
        if owner is not None:  # one request of an account after the other, so that none exceeds the quota
            list(get_user_model().objects.select_for_update().filter(pk=owner.pk))
        list(Split.objects.select_for_update().filter(pk=split.pk))  # numbers are given one after the other
        _check_count(split, count, owner=owner)
        last = split.twins.aggregate(last=Max("number"))["last"] or 0
        return [_create(split, data, number=last + 1 + number, owner=owner) for number in range(count)]


def _check_count(split: Split, count: int, *, owner: Any) -> None:
    room = MOST - split.twins.filter(split__dataset__owner=owner).count()
    if not 1 <= count <= room:
        advice = "" if room == MOST else f" There are {MOST - room} already. Delete one to make another."
        raise TwinRefused(f"Expected 1 to {MOST} fresh twins of a split, got {count} more.{advice}", where=str(split))


def _spec_data(split: Split, *, questions: int | None) -> dict[str, Any]:
    """Return the spec of the split's dataset with this split alone, withheld, and with its number of scenes."""
    spec = split.dataset.spec_data
    own = {**spec["splits"][split.name], "withheld": True, "reference": None}
    data = {**spec, "splits": {split.name: own}}
    if questions is not None:
        own["scenes"] = _scenes_for(split, data, questions)
    return data


def _scenes_for(split: Split, data: Mapping[str, Any], questions: int) -> int:
    """Return a number of scenes that have at least so many questions, with about as many for each as in the split."""
    if questions < LEAST_QUESTIONS:
        raise TwinRefused(
            f"Expected at least {LEAST_QUESTIONS} questions, got {questions:,}. No percentage is shown for fewer.",
            where="--questions",
        )
    maker, own = get_maker(split.dataset.world), data["splits"][split.name]
    scenes = planned = 0
    while planned < questions:  # in some worlds, the first scenes have fewer questions than the others
        scenes += math.ceil((questions - planned) * split.scenes / max(1, split.questions))
        spec, _ = _read_spec(split.dataset, {**data, "splits": {split.name: {**own, "scenes": scenes}}})
        planned = sum(chunk.questions for chunk in maker.plan(spec, split.name))
    return scenes


def _read_spec(source: Dataset, data: Mapping[str, Any]) -> tuple[BaseSpec, dict[str, bytes]]:
    files = {file.digest: bytes(file.content) for file in source.files.order_by("digest")}
    return get_world(source.world).read_stored_spec(data, files=files), files


def _create(split: Split, data: Mapping[str, Any], *, number: int, owner: Any) -> FreshTwin:
    source = split.dataset
    spec, files = _read_spec(source, data)
    if owner is not None:
        _check_limits(spec, owner, images=source.with_images)
    text = json.dumps(spec.to_json())
    dataset = create_dataset(
        spec.to_json(),
        slug=_free_slug(split, number),
        files={digest: content for digest, content in files.items() if digest in text},  # not those of other splits
        owner=owner,
        visibility=source.visibility,
        images=source.with_images,
        is_copy=True,
    )
    Dataset.objects.filter(pk=dataset.pk).update(  # the spec does not name the split, so its owner can hide that
        title=f"Fresh twin {number} of {split}",
        description=f"The spec of {split}, drawn again with a new secret, and with answers that are withheld.",
        authors=source.authors,
        licence=source.licence,
    )
    dataset.splits.update(reference=split.reference_id)  # of the other dataset, which is not made again
    dataset_jobs.plan(dataset)
    return FreshTwin.objects.create(split=dataset.splits.get(), source=split, number=number)


def _check_limits(spec: BaseSpec, owner: Any, *, images: bool) -> None:
    limits.check(spec.to_json(), limits.limits_for(owner))
    estimates.check(spec, owner, images=images)


def _free_slug(split: Split, number: int) -> str:
    """Return a free name in addresses, such as `clevr-mini-val-fresh-1`."""
    stem = re.sub(r"[^a-z0-9]+", "-", f"{split.dataset.slug}-{split.name}".lower()).strip("-")
    tried = 0
    while True:
        end = f"-fresh-{number}" + (f"-{tried}" if tried else "")
        slug = stem[: LONGEST_SLUG - len(end)].rstrip("-") + end
        assert re.match(SLUG_PATTERN, slug)
        if not Dataset.objects.filter(slug=slug).exists():
            return slug
        tried += 1


def resume_twin(twin: FreshTwin) -> None:
    """Go on with a twin whose making was cancelled or failed; raise `WrongVersion` or `BadSpec`."""
    dataset = twin.split.dataset
    if dataset.with_images:
        dataset.read_spec().check_here()
    dataset_jobs.resume(dataset)
