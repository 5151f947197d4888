"""Generation of items: planned answers, then statements, then a scene in which each statement has its answer."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from generation.engine.errors import Exhausted
from generation.engine.items import Answer, AnswerKind, Item, Question
from generation.engine.seeding import Stream
from generation.engine.worlds.clevr.scene import Point, SceneObject
from generation.engine.worlds.clevr.scene_sampling import Look, sample_scene
from generation.engine.worlds.counting.answer_plan import PlannedQuestion
from generation.engine.worlds.counting.spec import BESIDE, CountingSpec
from generation.engine.worlds.counting.statements import (
    Description,
    Statement,
    StatementSampler,
    fits,
    program_of,
    say,
)

ARRANGEMENTS = 200  # random exchanges of looks between placed objects
ROUNDING = 1e-5  # scene units
MORE = 3  # largest number of objects that fit a description but are not in the relation
ALIKE = 0.5  # share of the other objects that differ from counted objects in only one value


class PlannedStatement(NamedTuple):
    """A statement and the answer that it must have."""

    statement: Statement
    answer: int


class ItemSampler:
    """Makes the items of one chunk, one after the other.

    Parameters
    ----------
    spec : CountingSpec
        The spec of the split.
    scenes, choices, words : Stream
        Random numbers for scenes, for what is asked, and for texts.
    """

    def __init__(self, spec: CountingSpec, *, scenes: Stream, choices: Stream, words: Stream) -> None:
        self.spec, self.scenes, self.choices, self.words = spec, scenes, choices, words
        self.vocabulary = spec.clevr.vocabulary
        self.statements = StatementSampler(
            self.vocabulary, relation_share=spec.questions.relation_share, chance=choices
        )

    def item(self, planned: Sequence[PlannedQuestion], *, where: str) -> Item:
        """Return an item with the planned questions; raise `Exhausted`, naming `where`, if no scene has room."""
        statements = self.statements.draw([one.kind for one in planned])
        asked = [PlannedStatement(statement, one.answer) for statement, one in zip(statements, planned, strict=True)]
        looks = self._looks(asked)
        related = [one for one in asked if one.statement.relation]
        try:
            scene, view, _ = sample_scene(
                self.spec.clevr,
                self.scenes,
                looks=looks,
                arrange=partial(self._arrange, related) if related else None,
            )
        except Exhausted as error:
            raise Exhausted(
                f"Expected a scene of {len(looks)} objects with its answers, got none in {error.count} attempts: "
                "lower scene.objects_max, scene.min_pixels, scene.margin or questions.relation_margin, or raise "
                "scene.tries.",
                where=where,
                count=error.count,
            ) from error
        return Item(scene, view, tuple([self._question(one) for one in asked]))

    def _question(self, asked: PlannedStatement) -> Question:
        statement, answer = asked
        return Question(
            say(statement, self.vocabulary, self.words),
            program_of(statement),
            Answer(str(answer), AnswerKind.INTEGER),
            statement.kind,
        )

    def _looks(self, asked: Sequence[PlannedStatement]) -> list[Look]:
        """Return the looks of a scene's objects: those that statements need, and others that fit no description."""
        limits, chance = self.spec.scene, self.choices
        looks: list[Look] = []
        spare = limits.objects_max - sum(answer + BESIDE * bool(one.relation) for one, answer in asked)
        for statement, answer in asked:
            if statement.relation:
                more = min(chance.below(MORE), spare)
                spare -= more
                looks.append(self._look(statement.anchor))
                looks.extend(self._look(statement.counted) for _ in range(1 + more))
            looks.extend(self._look(statement.counted) for _ in range(answer))
        wanted = limits.objects_min + chance.below(limits.objects_max - limits.objects_min + 1)
        statements = [one.statement for one in asked]
        looks.extend(self._other_look(statements) for _ in range(wanted - len(looks)))
        chance.shuffle(looks)
        return looks

    def _look(self, description: Description) -> Look:
        """Return a random look that fits a description."""
        said, values = dict(description), self.vocabulary.values
        return Look(**{name: said.get(name) or self.choices.choice(values(name)) for name in Look._fields})

    def _other_look(self, statements: Sequence[Statement]) -> Look:
        """Return a random look that fits no description; often it differs from one in a single value."""
        chance = self.choices
        while True:
            look = self._look(())
            if chance.random() < ALIKE:
                counted = chance.choice(statements).counted
                name, value = chance.choice(counted)
                others = [one for one in self.vocabulary.values(name) if one != value]
                look = self._look(counted)._replace(**{name: chance.choice(others)})
            if not any(fits(look, description) for one in statements for description in one.descriptions):
                return look

    def _arrange(
        self, asked: Sequence[PlannedStatement], placed: list[SceneObject], toward: Mapping[str, Point]
    ) -> list[SceneObject] | None:
        """Return the objects with looks that give each relation its answer, or None after `ARRANGEMENTS` attempts."""
        along = [[_along(thing.coords, toward[one.statement.relation]) for thing in placed] for one in asked]
        for _ in range(ARRANGEMENTS):
            if all(self._holds(one, placed, places) for one, places in zip(asked, along, strict=True)):
                return placed
            placed = self._exchange_attributes(placed)
        return None

    def _holds(self, asked: PlannedStatement, placed: Sequence[SceneObject], along: Sequence[float]) -> bool:
        """Return whether a relation has its answer, and each object in question is clearly on one side of its start."""
        statement, answer = asked
        [start] = [place for thing, place in zip(placed, along, strict=True) if fits(thing, statement.anchor)]
        past = [place - start for thing, place in zip(placed, along, strict=True) if fits(thing, statement.counted)]
        margin = self.spec.questions.relation_margin + ROUNDING
        return sum(one > 0 for one in past) == answer and all(abs(one) >= margin for one in past)

    def _exchange_attributes(self, placed: Sequence[SceneObject]) -> list[SceneObject]:
        """Return the objects after those of each size have exchanged their other attributes at random."""
        changed = list(placed)
        for size in self.vocabulary.values("size"):
            places = [number for number, thing in enumerate(placed) if thing.size == size]
            others = [placed[number] for number in places]
            self.scenes.shuffle(others)
            for number, other in zip(places, others, strict=True):
                changed[number] = placed[number]._replace(shape=other.shape, material=other.material, color=other.color)
        return changed


def _along(place: Point, direction: Point) -> float:
    return sum(a * b for a, b in zip(place, direction, strict=True))
