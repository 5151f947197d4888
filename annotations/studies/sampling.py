"""Draws the questions of a study from a sealed split with the study's seed, uniformly or evenly over a facet.

The sample depends only on the split's name, its number of questions, and the study's numbers, filter and seed. With the
same seed, a uniform sample of 500 questions is part of the uniform sample of 5,500 questions. The order in which the
questions are given also depends on the site's key, so nobody can compute it from public data.
"""

import random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations.models import Study
from annotations.secret_seeds import seed_of
from annotations.studies import question_filter
from generation.engine.errors import EngineError
from generation.engine.items import FacetKind
from generation.engine.seeding import Stage, stream
from generation.models import Split
from generation.splits.split_recipes import Chooser, Positions, lowest
from generation.storage.split_index import IndexedFacet, SplitIndex

DRAWN = 2  # the index of a random stream that question sets do not use


class BadSample(EngineError):
    """The sample can't be drawn; `where` is the study's field with the problem."""


class Sample(NamedTuple):
    """A sample of a split's questions.

    Attributes
    ----------
    positions : array (n,) of int64
        The positions of the questions in the split, ascending.
    scenes : array (n,) of uint32
        The position of each question's scene.
    ranks : tuple of int
        The place of each question in the order in which the questions are given, from 0.
    """

    positions: Positions
    scenes: NDArray[np.uint32]
    ranks: tuple[int, ...]

    @property
    def places(self) -> list[tuple[int, int]]:
        return list(zip(self.positions.tolist(), self.scenes.tolist(), strict=True))


class SampleGroup(NamedTuple):
    label: str
    positions: Positions


def draw(study: Study) -> Sample:
    """Return the sample of a study.

    Raises
    ------
    BadSample
        If the split has too few questions or does not have the facet, or the filter is not valid.
    """
    index = SplitIndex.open(study.split)
    keys = _keys(study, DRAWN, index)
    try:
        pool = question_filter.pool(study, index)
    except question_filter.BadFilter as error:
        raise BadSample(error.reason, where=error.where) from error
    if study.evenly:
        groups = group_by(find_facet(study.split, index, study.evenly), pool)
        _check_enough(study, sum(len(group.positions) for group in groups))
        quotas = even_quotas([len(group.positions) for group in groups], study.wanted)
        taken = [lowest(group.positions, keys=keys, count=quota) for group, quota in zip(groups, quotas, strict=True)]
        positions = np.sort(np.concatenate(taken))
    else:
        _check_enough(study, len(pool))
        positions = lowest(pool, keys=keys, count=study.wanted)
    return Sample(positions, index.scenes[positions], _ranks(study, len(positions)))


def _ranks(study: Study, n: int) -> tuple[int, ...]:
    chance = random.Random(seed_of("ranks", study.code))  # noqa: S311 - the seed is secret
    return tuple(chance.sample(range(n), n))


def even_quotas(sizes: list[int], wanted: int) -> list[int]:
    """Return how many questions to take from groups of these sizes, so that the numbers are as equal as possible.

    All questions of a small group are taken. The remainder of the division goes to the largest groups, and among equal
    ones to the first. `wanted` is at most `sum(sizes)`.
    """
    quotas, left = [0] * len(sizes), wanted
    for rest, which in enumerate(sorted(range(len(sizes)), key=lambda one: (sizes[one], -one))):
        quotas[which] = min(sizes[which], left // (len(sizes) - rest))
        left -= quotas[which]
    return quotas


def facets_of(split: Split, index: SplitIndex) -> list[IndexedFacet]:
    """Return the facets over which a sample of a split may be drawn evenly.

    If the split's answers are withheld, facets that reveal more than the question's words are left out, because the
    choice of questions would reveal a part of these facts.
    """
    return [facet for facet in Chooser(split, index).facets if facet.kind is not FacetKind.FLAGS]


def find_facet(split: Split, index: SplitIndex, name: str) -> IndexedFacet:
    """Return a facet over which a sample may be drawn evenly; raise `BadSample` if none has this name."""
    found = {facet.name: facet for facet in facets_of(split, index)}
    if name not in found:
        raise BadSample(f"Expected one of {', '.join(found) or 'no facet'}, got {name[:60]}.", where="evenly")
    return found[name]


def group_by(facet: IndexedFacet, positions: Positions) -> list[SampleGroup]:
    """Return questions grouped by their value of a facet, in the order of the facet's values.

    If the facet has bins, each bin of integers is a group. Values without questions, and questions without a value, are
    left out.
    """
    codes = facet.codes[positions]
    groups = []
    for label, members in _bins(facet):
        theirs = positions[np.isin(codes, members)]
        if len(theirs):
            groups.append(SampleGroup(label, theirs))
    return groups


def _bins(facet: IndexedFacet) -> list[tuple[str, list[int]]]:
    """Return the label of each value or bin of a facet, and the codes of its values."""
    if not facet.bins:
        return [(label, [code]) for code, label in enumerate(facet.labels)]
    values = [int(value) for value in facet.values]
    ends = [*(first - 1 for first in facet.bins[1:]), max(values)]
    said = []
    for first, last in zip(facet.bins, ends, strict=True):
        codes = [code for code, value in enumerate(values) if first <= value <= last]
        said.append((str(first) if first >= last else f"{first} to {last}", codes))
    return said


def _keys(study: Study, which: int, index: SplitIndex) -> NDArray[np.float64]:
    """Return a random number for each question of the split; a study's question set uses the parent split's numbers."""
    split = study.split.source if study.is_frozen else study.split
    chance = stream(seed=study.seed, split=split.name, index=which, stage=Stage.SAMPLE)
    if index.positions is None or not study.is_frozen:
        return np.asarray(chance.generator.random(index.n))
    return np.asarray(chance.generator.random(split.questions))[index.positions]


def _check_enough(study: Study, there: int) -> None:
    if study.wanted > there:
        which = " that the filter finds" if study.filter else ""
        which += f" that have a value of {study.evenly}" if study.evenly else ""
        raise BadSample(
            f"Expected at most {there:,} questions, which are all of {study.split}{which}, got {study.wanted:,}.",
            where="wanted",
        )
