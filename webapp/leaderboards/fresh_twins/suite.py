"""The suite of a split and its fresh twins. It is made with the first twins, and later twins are added to it."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max

from generation.making.fresh_twins import make_twins
from generation.models import Dataset, FreshTwin, Split
from webapp.leaderboards.models import Suite, SuiteMember
from webapp.leaderboards.models.suites import SuiteQuerySet

LONGEST_SLUG = 60
LONGEST_LABEL = 60


class MadeTwins(NamedTuple):
    twins: list[FreshTwin]
    suite: Suite


def make_twins_with_suite(
    split: Split, *, count: int = 1, questions: int | None = None, owner: Any = None
) -> MadeTwins:
    with transaction.atomic():
        twins = make_twins(split, count=count, questions=questions, owner=owner)
        return MadeTwins(twins, _add(split, twins, owner=owner))


def suites_with_twins(split: Split) -> SuiteQuerySet:
    both: SuiteQuerySet = Suite.objects.filter(members__split=split).filter(members__split__twin__source=split)
    return both.distinct().order_by("pk")


def find_twin_suite(split: Split, *, owner: Any) -> Suite | None:
    """Return the account's suite to which further twins of a split are added; None if there is none."""
    found: Suite | None = suites_with_twins(split).filter(owner=owner, k_name="").first()
    if found is None:  # all of its twins may have been deleted
        found = Suite.objects.filter(slug=_slug(split), owner=owner, k_name="", members__split=split).first()
    return found


def _add(split: Split, twins: Sequence[FreshTwin], *, owner: Any) -> Suite:
    """Add the twins to the account's suite and return it. A new suite has all of the account's twins of the split."""
    suite = find_twin_suite(split, owner=owner)
    if suite is None:
        suite = _create(split, owner=owner)
        twins = list(split.twins.filter(split__dataset__owner=owner).order_by("number"))
    labels = set(suite.members.values_list("label", flat=True))
    last = suite.members.aggregate(last=Max("ordinal"))["last"] or 0
    for ordinal, twin in enumerate(twins, last + 1):
        label = f"twin {twin.number}"
        label = label if label not in labels else f"{label}, {twin.split.dataset.slug}"[:LONGEST_LABEL]
        SuiteMember.objects.create(suite=suite, split=twin.split, ordinal=ordinal, label=label)
    return suite


def _create(split: Split, *, owner: Any) -> Suite:
    suite = Suite.objects.create(
        slug=_free_slug(split),
        title=f"Fresh twins of {split}",
        description=(
            f"The split {split} and its fresh twins. The twins are made from the same spec with new secrets, so that "
            "nobody can have trained on their questions. A method that has learned questions of the published split by "
            "heart has a gap above 0. See [Fresh twins](/docs/fresh-twins/)."
        ),
        owner=owner,
        is_public=split.dataset.visibility == Dataset.Visibility.PUBLIC,
    )
    SuiteMember.objects.create(suite=suite, split=split, ordinal=0, label=split.name)
    return suite


def _slug(split: Split) -> str:
    stem = re.sub(r"[^a-z0-9]+", "-", f"fresh-twins-of-{split.dataset.slug}-{split.name}".lower())
    return stem[:LONGEST_SLUG].rstrip("-")


def _free_slug(split: Split) -> str:
    slug, number = _slug(split), 1
    while Suite.objects.filter(slug=slug).exists():
        number += 1
        end = f"-{number}"
        slug = _slug(split)[: LONGEST_SLUG - len(end)].rstrip("-") + end
    return slug
