"""A small world of stories for tests of all worlds with stories: people put fruit into a basket and take it out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, Literal

from generation.engine.errors import BadScene
from generation.engine.items import (
    JOINT,
    Answer,
    AnswerForm,
    AnswerKind,
    ChartView,
    Chunk,
    Element,
    Item,
    Media,
    Question,
    SceneData,
)
from generation.engine.program import Function, FunctionTable, Shown, Step
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.spec import BaseSpec
from generation.engine.worlds.base import Maker, World, equal_chunks
from generation.engine.worlds.breakdowns import BoardView

NAME, WHERE = "baskets", "tests.worlds.baskets:WORLD"
PEOPLE = ("Ada", "Ben")
FRUIT = ("apple", "fig", "pear")
EMPTY = "nothing"
SETS = (EMPTY, *(JOINT.join(some) for count in (1, 2, 3) for some in combinations(FRUIT, count)))
WAYS = tuple(JOINT.join(some) for some in permutations(FRUIT, 2))
NUMBERS = ("none", "one", "two", "three")
ANSWERS: Mapping[str, tuple[str, ...]] = {"inside": SETS, "first": WAYS, "count": NUMBERS}
KINDS = {"inside": AnswerKind.SET, "first": AnswerKind.SEQUENCE, "count": AnswerKind.WORD}
TEXTS = {
    "inside": "What is in the basket?",
    "first": "Which two fruits came first, in order?",
    "count": "How many fruits are in the basket?",
}
SCOPES = {"inside": 3, "first": 4, "count": 5}
LINES, WINDOW = 6, 3
PRESETS: dict[str, dict[str, Any]] = {
    "baskets": {"world": NAME, "splits": {"train": {"scenes": 6}, "val": {"scenes": 3}}}
}


class BasketSpec(BaseSpec):
    """A dataset of baskets."""

    world: Literal["baskets"] = "baskets"


@dataclass(frozen=True)
class Tale:
    """The actions of a tale, one for each line: person, in or out, fruit."""

    deeds: tuple[tuple[str, str, str], ...]

    def to_json(self) -> dict[str, Any]:
        return {"deeds": [list(deed) for deed in self.deeds]}


class Found:
    """A value, and the lines from which it follows."""

    def __init__(self, value: Any, lines: tuple[int, ...]) -> None:
        self.value, self.lines = value, lines


def inside(deeds: Sequence[tuple[str, str, str]]) -> Found:
    """Return what is in the basket at the end, and the lines in which it was put there."""
    last = {fruit: number for number, (_, _, fruit) in enumerate(deeds)}
    held = [fruit for fruit in FRUIT if fruit in last and deeds[last[fruit]][1] == "in"]
    return Found(tuple(held), tuple(sorted(last[fruit] for fruit in held)))


def first_two(deeds: Sequence[tuple[str, str, str]]) -> Found:
    """Return the two fruits that were put in first, and the lines in which this happened."""
    first: dict[str, int] = {}
    for number, (_, _, fruit) in enumerate(deeds):
        first.setdefault(fruit, number)
    return Found(tuple(first)[:2], tuple(first.values())[:2])


class BasketMaker(Maker):
    """Generates tales."""

    bundled = PRESETS

    def plan(self, spec: BaseSpec, split: str) -> list[Chunk]:
        return equal_chunks(spec.splits[split].scenes, size=WINDOW, questions_each=len(TEXTS))

    def make(self, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        chance = stream(seed=spec.seed, split=split, index=chunk.number, stage=Stage.SCENE, secret=secret)
        for _ in range(chunk.items):
            tale = self.tell(chance)
            yield Item(tale, None, tuple(self.ask(tale, kind) for kind in TEXTS))

    def tell(self, chance: Stream) -> Tale:
        """Return a tale in which the first two lines put in two different fruits."""
        order = list(FRUIT)
        chance.shuffle(order)
        held: set[str] = set()
        deeds = []
        for number in range(LINES):
            fruit = order[number] if number < 2 else chance.choice(order)
            deeds.append((chance.choice(PEOPLE), "out" if fruit in held else "in", fruit))
            held ^= {fruit}
        return Tale(tuple(deeds))

    def ask(self, tale: Tale, kind: str) -> Question:
        """Return a question of the given kind."""
        step = "first_two" if kind == "first" else "inside"
        program = (Step("tale"), Step(step, (0,)), *((Step("count", (1,)),) if kind == "count" else ()))
        found = (first_two if kind == "first" else inside)(tale.deeds[: SCOPES[kind]])
        answer = Answer(answer_text(kind, found.value), KINDS[kind])
        return Question(TEXTS[kind], program, answer, kind, family=tuple(TEXTS).index(kind), scope=SCOPES[kind])


def answer_text(kind: str, fruit: Sequence[str]) -> str:
    """Return the canonical text of an answer."""
    if kind == "count":
        return NUMBERS[len(fruit)]
    return JOINT.join(fruit) or EMPTY


class BasketWorld(World):
    """The world of tales."""

    name = NAME
    label = "Baskets"
    spec_model = BasketSpec
    kinds = tuple(TEXTS)
    media = Media.STORY
    views = (ChartView("kinds", "Kinds", "type", "kind of question"),)
    board_views = (BoardView("kinds", "By kind", "type", "kind of question"),)
    maker = BasketMaker()

    def read_scene(self, data: Mapping[str, Any]) -> Tale:
        try:
            return Tale(tuple((who, way, fruit) for who, way, fruit in data["deeds"]))
        except (KeyError, ValueError) as error:
            raise BadScene(f"Expected deeds, got {data!r}.", where="scene") from error

    def story(self, scene: SceneData) -> tuple[str, ...]:
        assert isinstance(scene, Tale)
        ways = {"in": "puts the {} into the basket", "out": "takes the {} out of the basket"}
        return tuple(f"{who} {ways[way].format(fruit)}." for who, way, fruit in scene.deeds)

    def functions(self, spec: BaseSpec) -> FunctionTable:
        functions = (
            Function("tale", (), "Deeds", (), lambda deeds: Found(deeds, tuple(range(len(deeds)))), "the tale"),
            Function("inside", ("Deeds",), "Set", (), lambda deeds, found: inside(deeds), "what is in the basket"),
            Function("first_two", ("Deeds",), "Way", (), lambda deeds, found: first_two(deeds), "what came first"),
            Function("count", ("Set",), "Count", (), lambda deeds, found: Found(found.value, found.lines), "how many"),
        )
        kinds = {"Set": "inside", "Way": "first", "Count": "count"}
        return FunctionTable(
            functions={function.name: function for function in functions},
            values={},
            prepare=lambda scene, scope: scene.deeds[:scope],
            show=lambda kind, found: Shown(
                answer_text(kinds[kind], found.value) if kind in kinds else list(found.lines), found.lines
            ),
            answer_kinds={"Set": "set", "Way": "sequence", "Count": "word"},
            kind_of=lambda program: {"first_two": "first", "inside": "inside"}.get(program[-1].function, "count"),
        )

    def answers(self, spec: BaseSpec) -> tuple[str, ...]:
        return tuple(dict.fromkeys(answer for answers in ANSWERS.values() for answer in answers))

    def prompt(self, spec: Any, question: Question) -> str:
        return f"{question.text}\nAnswer with words joined by commas."

    def answer_form(self, spec: BaseSpec, question: Question) -> AnswerForm:
        kind = question.kind
        if kind == "inside":
            return AnswerForm(AnswerKind.SET, SETS, {}, "Choose all of it.", FRUIT, EMPTY)
        if kind == "first":
            return AnswerForm(AnswerKind.SEQUENCE, WAYS, {}, "Choose one for each place.", FRUIT, length=2)
        return AnswerForm(AnswerKind.WORD, NUMBERS, {})

    def elements(self, spec: BaseSpec, item: Item) -> tuple[Element, ...]:
        assert item.scene is not None
        return tuple(Element(number, line, line=number) for number, line in enumerate(self.story(item.scene)))


WORLD = BasketWorld()
