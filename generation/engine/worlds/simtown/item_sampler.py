"""Generation of items: a scene, its answer, and a question that has this answer.

References
----------
Bingham et al. 2017, Characterizing how Visual Question Answering models scale with the world, sections 2.2 and 6.3.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import Exhausted
from generation.engine.items import Answer, AnswerKind, Item, Question
from generation.engine.seeding import Stream
from generation.engine.worlds.simtown.frequencies import pair_table, replacement_table
from generation.engine.worlds.simtown.programs import REVERSED, program_of, relation_of
from generation.engine.worlds.simtown.question_text import say
from generation.engine.worlds.simtown.scene import SimTownScene, Vehicle
from generation.engine.worlds.simtown.scene_sampling import is_refuted, place_vehicles, sample_street
from generation.engine.worlds.simtown.spec import SimTownSpec

YES, NO = Answer("yes", AnswerKind.YES_NO), Answer("no", AnswerKind.YES_NO)
ATTEMPTS = 50  # scenes that are tried before generation fails


class QuestionPlan(NamedTuple):
    """What a question asks, and how it is true or false of the scene.

    Attributes
    ----------
    subject, relation, other : str
    way : str
        `true`, `reversed`, `wrong` or `absent`.
    first, second : str
        The entities of the scene's pair: `first` is in the relation `holds` to `second`.
    holds : str
    third : str or None
        The distractor.
    """

    subject: str
    relation: str
    other: str
    way: str
    first: str
    second: str
    holds: str
    third: str | None


class ItemSampler:
    """Makes the items of one chunk, one after the other.

    Parameters
    ----------
    spec : SimTownSpec
        The spec of the split.
    scenes, choices, words : Stream
        Random numbers for scenes, for what is asked, and for texts.
    """

    def __init__(self, spec: SimTownSpec, *, scenes: Stream, choices: Stream, words: Stream) -> None:
        self.spec, self.scenes, self.choices, self.words = spec, scenes, choices, words
        self.tables = tables_of(spec)
        shares = spec.questions.false_shares
        ways = {"reversed": shares.reversed, "wrong": shares.wrong if spec.distractor else 0.0, "absent": shares.absent}
        self.ways, self.weights = tuple(ways), np.cumsum(list(ways.values()))

    def item(self, *, holds: bool, where: str) -> Item:
        """Return an item whose question has the answer yes if `holds`; raise `Exhausted`, naming `where`."""
        for replaced in range(ATTEMPTS):
            wanted = self._statement(holds)
            vehicles = self._place(wanted)
            if vehicles is None:
                continue
            scene = SimTownScene.model_construct(
                vehicles=vehicles,
                distractor=self.spec.distractor,
                street=sample_street(self.scenes),
                weather=self.scenes.choice(self.spec.scene.weathers),
            )
            return Item(scene, None, (self._question(wanted, YES if holds else NO),), replaced)
        raise Exhausted(
            f"Expected a place for {3 if self.spec.distractor else 2} vehicles on the road, got none in "
            f"{ATTEMPTS} × {self.spec.scene.tries} attempts: lower questions.margin or scene.least_pixels"
            f"{', or leave the distractor out' if self.spec.distractor else ''}.",
            where=where,
            count=ATTEMPTS,
        )

    def _place(self, wanted: QuestionPlan) -> tuple[Vehicle, ...] | None:
        """Return vehicles of which the question is true or false as planned, or None if no place is found.

        A random scene in which a question about the distractor is true is drawn again. The direction of the relation
        that holds for the pair is drawn again with it, because it says where the distractor has most room.
        """
        names = [wanted.first, wanted.second, *([wanted.third] if wanted.third is not None else [])]
        margin, placement, holds = self.spec.questions.margin, self.spec.distractor_placement, wanted.holds
        for _ in range(ATTEMPTS):
            placed = place_vehicles(
                names, holds, margin=margin, parameters=self.spec.scene, chance=self.scenes, placement=placement
            )
            if placed is None or placement == "beside" or wanted.way != "wrong":
                return placed
            if is_refuted(wanted.relation, placed, margin=margin, chance=self.choices):
                return placed
            holds = self.choices.choice((wanted.relation, REVERSED[wanted.relation]))
        return None

    def _question(self, wanted: QuestionPlan, answer: Answer) -> Question:
        program = program_of(wanted.subject, wanted.relation, wanted.other)
        text = say(wanted.subject, wanted.relation, wanted.other, self.words)
        return Question(text, program, answer, relation_of(program))

    def _statement(self, holds: bool) -> QuestionPlan:
        """Return what to ask, with the shares of the spec, and the scene that it needs."""
        names, tables = self.spec.names, self.tables
        pair = draw(tables.pairs, self.choices)
        subject, other = divmod(pair, len(names))
        relation: str = self.choices.choice(self.spec.questions.relations)
        way = "true" if holds else self.ways[draw(self.weights, self.choices)]
        first, second, shown = subject, other, relation
        if way == "absent":
            replaces_subject = self.choices.random() < 0.5
            if replaces_subject:
                first = draw(tables.subjects[other, subject], self.choices)
            else:
                second = draw(tables.objects[subject, other], self.choices)
            if (first, second) == (subject, other):  # too frequent to be replaced always, see `replacement_table`
                way = "reversed"
        if way == "absent" and self.choices.random() < 0.5:
            shown = REVERSED[relation]
        third = None
        if way == "reversed":
            first, second, shown = subject, other, REVERSED[relation]
        if way == "wrong":
            third, first = subject, self._beside(other, subject)
            shown = relation if self.choices.random() < 0.5 else REVERSED[relation]
        elif self.spec.distractor:
            third = self._beside(second, first, subject, other)
        return QuestionPlan(
            names[subject],
            relation,
            names[other],
            way,
            names[first],
            names[second],
            shown,
            None if third is None else names[third],
        )

    def _beside(self, second: int, first: int, *others: int) -> int:
        """Return an entity for a scene with a pair: another one than both, and than some others.

        It comes from the table of replacements, so that the two vehicles that are not the object have the same shares
        whichever of them the question names.
        """
        for _ in range(ATTEMPTS):
            found = draw(self.tables.subjects[second, first], self.choices)
            if found not in (second, first, *others):
                return found
        while True:  # where the table leaves hardly any other entity
            found = self.choices.below(len(self.spec.names))
            if found not in (second, first, *others):
                return found


class CumulativeShares(NamedTuple):
    """Cumulative shares: pairs (k * k), replacements of subjects and of objects (k, k, k)."""

    pairs: NDArray[np.float64]
    subjects: NDArray[np.float64]
    objects: NDArray[np.float64]


_TABLES: dict[tuple[tuple[float, ...], tuple[float, ...]], CumulativeShares] = {}


def tables_of(spec: SimTownSpec) -> CumulativeShares:
    """Return the tables of a spec's frequencies; they are kept for further specs with the same frequencies."""
    key = (spec.marginals.subjects, spec.marginals.objects)
    if key not in _TABLES:
        pairs = pair_table(spec.marginals)
        given_object = [replacement_table(column / max(column.sum(), 1e-300)) for column in pairs.T]
        given_subject = [replacement_table(row / max(row.sum(), 1e-300)) for row in pairs]
        _TABLES[key] = CumulativeShares(
            pairs=np.cumsum(pairs),
            subjects=np.cumsum(np.array(given_object), axis=2),
            objects=np.cumsum(np.array(given_subject), axis=2),
        )
    return _TABLES[key]


def draw(cumulative: NDArray[np.float64], chance: Stream) -> int:
    """Return a position with a probability that is proportional to its weight; the weights are given as their sums."""
    place = int(np.searchsorted(cumulative, chance.random() * cumulative[-1], side="right"))
    return min(place, len(cumulative) - 1)
