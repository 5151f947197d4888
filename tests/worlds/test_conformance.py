"""Every registered world follows every rule, and every rule can fail."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from generation.engine.items import (
    Answer,
    AnswerForm,
    AnswerKind,
    ChartView,
    Chunk,
    Column,
    Element,
    Equivalent,
    Facet,
    FacetKind,
    Item,
    Media,
    Needs,
    Question,
)
from generation.engine.program import Program
from generation.engine.programs.ablation import Ablation
from generation.engine.spec import BaseSpec, read
from generation.engine.worlds import REGISTRY, SEEN, UNSEEN, World, get_world, names
from generation.engine.worlds.base import Baseline, Repeatable
from generation.engine.worlds.breakdowns import BoardView, Reweighting, Series, Tasks
from generation.engine.worlds.levels import LevelAttribute, Trend, labelled, named
from tests.worlds import conformance
from tests.worlds.baskets import FRUIT, LINES, SETS, BasketWorld
from tests.worlds.conformance import Case, Rule, rules
from tests.worlds.marbles import COLORS, NUMBERS, MarbleMaker, MarbleSpec, MarbleWorld, Row, leave_out

NO_SPACES: Mapping[str, Mapping[str, int]] = {}
CASES = {name: Case(get_world(name)) for name in names()}


@pytest.mark.parametrize(
    ("name", "rule"),
    [pytest.param(name, rule, id=f"{name}-{rule.__name__}") for name in names() for rule in rules(get_world(name))],
)
def test_a_registered_world_follows_every_rule(name: str, rule: Rule):
    rule(CASES[name])


@pytest.mark.parametrize("name", names())
def test_a_registered_world_has_its_name(name: str):
    assert get_world(name).name == name


@pytest.mark.parametrize("small", [MarbleWorld(), BasketWorld()], ids=["pictures", "stories"])
def test_a_small_world_follows_every_rule(small: World):
    conformance.hold(small)


def break_world(**changes: Any) -> MarbleWorld:
    """Return the small world with some methods replaced."""
    return type("Broken", (MarbleWorld,), changes)()  # type: ignore[no-any-return]


def break_maker(**changes: Any) -> MarbleWorld:
    """Return the small world with some methods of its maker replaced."""
    return break_world(maker=type("BrokenMaker", (MarbleMaker,), changes)())


def change_questions(change: Callable[[Question], Question]) -> MarbleWorld:
    """Return the small world with changed questions."""
    plain = MarbleMaker()
    return break_maker(ask=lambda self, row, color: change(plain.ask(row, color)))


def plan_short(self: Any, spec: BaseSpec, split: str) -> list[Chunk]:
    return MarbleMaker().plan(spec, split)[:-1]


def plan_late(self: Any, spec: BaseSpec, split: str) -> list[Chunk]:
    return [chunk._replace(number=chunk.number + 1) for chunk in MarbleMaker().plan(spec, split)]


def plan_gap(self: Any, spec: BaseSpec, split: str) -> list[Chunk]:
    return [chunk._replace(first_question=chunk.first_question + 1) for chunk in MarbleMaker().plan(spec, split)]


def make_short(self: Any, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
    items = list(MarbleMaker().make(spec, split, chunk, secret=secret))
    yield from items[:-1]


def make_mute(self: Any, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
    for item in MarbleMaker().make(spec, split, chunk, secret=secret):
        yield replace(item, questions=item.questions[:1])


def make_counting() -> Any:
    """Return a function that generates a different chunk each time."""
    calls = [0]

    def make(self: Any, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        calls[0] += 1
        yield from MarbleMaker().make(spec, split, chunk._replace(number=chunk.number + calls[0]), secret=secret)

    return make


def make_alike(self: Any, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
    yield from MarbleMaker().make(spec, split, chunk._replace(number=0), secret=secret)


def plan_growing(self: Any, spec: BaseSpec, split: str) -> list[Chunk]:
    count = spec.splits[split].scenes
    halves = (count // 2, count - count // 2)
    return [Chunk(0, 0, halves[0], 0, 2 * halves[0]), Chunk(1, halves[0], halves[1], 2 * halves[0], 2 * halves[1])]


def make_counting_items(self: Any, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
    other = chunk._replace(number=chunk.number + 100 * chunk.items)
    yield from MarbleMaker().make(spec, split, other, secret=secret)


def make_open(self: Any, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
    yield from MarbleMaker().make(spec, split, chunk)


def make_seedless(self: Any, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
    yield from MarbleMaker().make(spec.model_copy(update={"seed": 3}), split, chunk, secret=secret)


def make_nameless(self: Any, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
    yield from MarbleMaker().make(spec, "any", chunk, secret=secret)


def make_entangled(self: Any, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
    yield from MarbleMaker().make(spec, split + "".join(spec.splits), chunk, secret=secret)


def forgets_width(self: Any, data: Mapping[str, Any]) -> Row:
    return Row(MarbleWorld().read_scene(data).marbles, 0)


def change_codes(**changes: Any) -> MarbleWorld:
    """Return the small world with changed codes of a facet. None removes the facet's codes."""

    def facet_codes(self: Any, spec: BaseSpec, item: Item) -> Mapping[str, Sequence[int]]:
        plain = dict(MarbleWorld().facet_codes(spec, item))
        for name, change in changes.items():
            plain[name] = change(item, plain.get(name)) if change else []
            if change is None:
                del plain[name]
        return plain

    return break_world(facet_codes=facet_codes)


def set_facets(*listed: Facet) -> MarbleWorld:
    return break_world(facets=lambda self, spec: listed)


def set_train_keys(keys: Callable[[Any, Any], Mapping[str, Sequence[str]]]) -> MarbleWorld:
    """Return the small world with a facet that needs the train split, and with these keys."""
    seen = Facet("seen", "seen", FacetKind.CATEGORY, (SEEN, UNSEEN), False, Needs.TRAIN)
    return break_world(
        facets=lambda self, spec: (*MarbleWorld().facets(spec), seen),
        train_keys=lambda self, spec, item, question: keys(item, question),
    )


def set_repeats(
    keys: Callable[[Any, Any], Sequence[str]], *listed: Repeatable, spaces: Mapping[str, Mapping[str, int]] = NO_SPACES
) -> MarbleWorld:
    """Return the small world with the listed repeatable things, or else with one for each item by these keys."""
    seen = Facet("seen", "seen", FacetKind.CATEGORY, (SEEN, UNSEEN), False, Needs.TRAIN)
    return break_world(
        facets=lambda self, spec: (*MarbleWorld().facets(spec), seen),
        train_keys=lambda self, spec, item, question: {"seen": keys(item, question)},
        repeats=listed or (Repeatable("seen", "rows", True),),
        repeats_by="color",
        spaces=lambda self, spec: spaces,
    )


def change_elements(change: Callable[[list[Element]], list[Element]]) -> MarbleWorld:
    return break_world(elements=lambda self, spec, item: tuple(change(list(MarbleWorld().elements(spec, item)))))


def set_equivalents(change: Callable[[Program], Equivalent]) -> MarbleWorld:
    """Return the small world with equivalent questions."""
    return break_world(equivalent=lambda self, spec, item, program: change(program))


def change_pictures(change: Callable[[Any, Any], Any]) -> MarbleWorld:
    """Return the small world with changed pictures."""
    return break_maker(render=lambda self, spec, split, item: change(*MarbleMaker().render(spec, split, item)))


def set_colours(draw: Callable[..., Any]) -> MarbleWorld:
    """Return marbles whose answers have colours. A function draws their samples."""
    form = AnswerForm(AnswerKind.WORD, ("red", "black"), {"red": (255, 0, 0), "black": (0, 0, 0)})
    return break_world(
        answer_form=lambda self, spec, question: form,
        swatches=lambda self, spec: form.swatches,
        draw_colour=draw,
    )


def change_forms(form: Callable[[Question], AnswerForm]) -> MarbleWorld:
    return break_world(answer_form=lambda self, spec, question: form(question))


def change_stories(story: Callable[[Any, Any], tuple[str, ...]]) -> BasketWorld:
    """Return the small world of stories with changed lines."""
    return type("Broken", (BasketWorld,), {"story": story})()


def change_sets(**changes: Any) -> BasketWorld:
    """Return the small world of stories with a changed answer form of its sets."""
    plain = BasketWorld()

    def form(self: Any, spec: BaseSpec, question: Question) -> AnswerForm:
        found = plain.answer_form(spec, question)
        return found._replace(**changes) if found.kind == AnswerKind.SET else found

    return type("Broken", (BasketWorld,), {"answer_form": form})()


def set_ablation(change: Callable[[Program], Program]) -> MarbleWorld:
    """Return the small world with an ablation that changes programs in this way."""
    return break_world(ablations=(Ablation("color", "colour", change),))


LEVELS = LevelAttribute(
    "title", "title", "color", Trend.MORE, named({}, {}, {"title": "Hard"}), labelled("1", "2", "3")
)
PLAIN = Facet("color", "colour", FacetKind.CATEGORY, COLORS, reveals=False)


def guess_by(answers: Callable[[Item], list[str]]) -> Any:
    """Return a guessing function from a function that guesses for one item."""
    return lambda spec, asked, *, learned, check: (answer for item in asked for answer in answers(item))


OWN = Baseline("four", "Always 4", "nothing", "nothing", False, guess_by(lambda item: ["4"] * len(item.questions)))
BOARD = BoardView("colors", "By colour", "color", "colour asked for")
VIEW = ChartView("colors", "Colours", "color", "colour asked for")
NOISE = np.random.Generator(np.random.PCG64(1))
TICKS = itertools.count()
TASKS = Tasks("color", "colour", Fraction(95, 100))
BROKEN: dict[str, list[MarbleWorld]] = {
    "repeats_are_told_apart_by_one_key": [
        set_repeats(lambda item, question: ("a", "b")),
        set_repeats(lambda item, question: (question.text,)),
        set_repeats(lambda item, question: ("a",), Repeatable("color", "rows", False)),
        set_repeats(lambda item, question: ("a",), *[Repeatable("seen", "rows", False)] * 2),
        set_repeats(lambda item, question: ("a",), spaces={"red": {"color": 5}}),
        set_repeats(lambda item, question: ("a",), spaces={"red": {"seen": 0}}),
        set_repeats(lambda item, question: ("a",), spaces={"mauve": {"seen": 5}}),
    ],
    "presets_are_readable": [
        break_maker(preset=lambda self, name: {"splits": {"a": {"scenes": 1}}}),
        break_maker(presets=lambda self: ()),
        break_world(name="other"),
    ],
    "references_are_other_splits": [break_world(read_spec=lambda self, data, files=None: read(MarbleSpec, data))],
    "specs_survive_json": [
        break_world(
            read_spec=lambda self, data, files=None: read(MarbleSpec, {**data, "seed": data.get("seed", 0) + 1})
        ),
    ],
    "plan_covers_each_split_once": [
        break_maker(plan=plan_short),
        break_maker(plan=plan_late),
        break_maker(plan=plan_gap),
    ],
    "chunks_hold_what_was_planned": [break_maker(make=make_short), break_maker(make=make_mute)],
    "chunks_depend_on_their_arguments_alone": [break_maker(make=make_counting()), break_maker(make=make_alike)],
    "scenes_and_views_survive_json": [
        break_world(read_scene=forgets_width),
        break_world(read_view=forgets_width),
        break_world(read_scene=lambda self, data: Row(tuple(data.get("marbles", ())))),
    ],
    "programs_give_the_answers": [
        change_questions(lambda question: replace(question, answer=Answer("7", AnswerKind.INTEGER))),
        change_questions(lambda question: replace(question, kind="exist")),
        change_questions(lambda question: replace(question, answer=question.answer._replace(kind=AnswerKind.WORD))),  # type: ignore[union-attr]
    ],
    "answers_are_known_beforehand": [
        break_world(answers=lambda self, spec: NUMBERS[:3]),
        break_world(answers=lambda self, spec: NUMBERS + NUMBERS[:1]),
    ],
    "facets_are_well_formed": [
        set_facets(PLAIN, PLAIN),
        set_facets(replace(PLAIN, values=("black", "black"))),
        set_facets(replace(PLAIN, labels=("one",))),
        set_facets(replace(PLAIN, values=())),
        set_facets(replace(PLAIN, kind=FacetKind.INTEGER, values=("1", "02"))),
        set_facets(replace(PLAIN, bins=(0,))),
        set_facets(replace(PLAIN, kind=FacetKind.INTEGER, values=("1", "2"), bins=(2,))),
        set_facets(replace(PLAIN, kind=FacetKind.INTEGER, values=("1", "2"), bins=(1, 0))),
    ],
    "facet_codes_are_complete_and_in_range": [
        change_codes(color=None),
        change_codes(color=lambda item, plain: plain[:1]),
        change_codes(color=lambda item, plain: [2, 0]),
        change_codes(color=lambda item, plain: [-2, 0]),
        change_codes(extra=lambda item, plain: [0, 0]),
    ],
    "facets_that_reveal_nothing_need_the_words_alone": [
        change_codes(color=lambda item, plain: [int(q.answer.text) % 2 for q in item.questions]),
        change_codes(color=lambda item, plain: [item.scene.marbles[0] == "black"] * 2),
    ],
    "train_keys_need_what_everybody_sees_alone": [
        set_train_keys(lambda item, question: {}),
        set_train_keys(lambda item, question: {"seen": ()}),
        set_train_keys(lambda item, question: {"seen": (question.text,), "more": (question.text,)}),
        set_train_keys(lambda item, question: {"seen": (question.answer.text,)}),
        set_train_keys(lambda item, question: {"seen": (item.questions[0].answer.text,)}),
        set_train_keys(lambda item, question: {"seen": item.scene.marbles}),
    ],
    "steps_point_at_elements": [
        change_elements(lambda all_of_them: all_of_them[:-1]),
        change_elements(lambda all_of_them: all_of_them[::-1]),
        change_elements(lambda all_of_them: [one._replace(label="") for one in all_of_them]),
    ],
    "equivalents_are_no_longer": [
        set_equivalents(lambda program: Equivalent((*program, program[-1]), "How many?")),
        set_equivalents(lambda program: Equivalent((), "How many?")),
        set_equivalents(lambda program: Equivalent(program, "")),
        set_equivalents(lambda program: Equivalent(program, "How many?", "horse")),
    ],
    "pictures_show_the_elements": [
        change_pictures(lambda rgb, ids: (rgb, ids + np.uint16(1))),
        change_pictures(lambda rgb, ids: (rgb, ids.astype(np.int32))),
        change_pictures(lambda rgb, ids: (rgb / 255.0, ids)),
        change_pictures(lambda rgb, ids: (rgb[:-1], ids)),
        change_pictures(lambda rgb, ids: (NOISE.integers(0, 255, rgb.shape, np.uint8), ids)),
    ],
    "prompts_ask_the_question_and_do_not_tell": [
        break_world(prompt=lambda self, spec, question: "How many?"),
        break_world(
            prompt=lambda self, spec, question: (
                f"{question.text} (It is {question.answer.text if question.answer else ''})"
            )
        ),
        break_world(prompt=lambda self, spec, question: f"{question.text} {'' if question.answer else 'Withheld.'}"),
    ],
    "forms_offer_the_answer": [
        change_forms(lambda question: AnswerForm(AnswerKind.INTEGER, ("0",), {})),
        change_forms(lambda question: AnswerForm(AnswerKind.WORD, NUMBERS, {})),
        change_forms(lambda question: AnswerForm(AnswerKind.INTEGER, (*NUMBERS, "0"), {})),
        change_forms(lambda question: AnswerForm(AnswerKind.INTEGER, NUMBERS, {"red": (255, 0, 0)})),
        change_forms(
            lambda question: AnswerForm(AnswerKind.INTEGER, (question.answer.text,) if question.answer else NUMBERS, {})
        ),
        change_sets(parts=FRUIT[:2]),
        change_sets(parts=(*FRUIT, "a,b")),
        change_sets(empty=""),
        change_sets(length=2),
        change_sets(choices=("pear,apple", *SETS)),
    ],
    "stories_are_lines": [
        break_world(media=Media.STORY),
        change_stories(lambda self, scene: ()),
        change_stories(lambda self, scene: ("Ada looks.\nBen listens.",)),
        change_stories(lambda self, scene: (" ",)),
        type("Broken", (BasketWorld,), {"elements": lambda self, spec, item: (Element(0, "end", line=LINES),)})(),
        type("Broken", (BasketWorld,), {"supports": lambda self, scene, number: (LINES - 1,)})(),
        change_stories(lambda self, scene: (f"Tale {id(scene)}.",) * LINES),
    ],
    "what_is_easy_is_said_in_numbers_or_not_at_all": [
        break_world(lengths={"no-such-facet": 1}),
        break_world(lengths={"color": 1}),
        break_world(lengths={"answer": 0}),
        break_world(is_clear=lambda self, spec, item: "very"),
        break_world(is_clear=lambda self, spec, item: True),
    ],
    "colours_are_drawn_as_they_are_told_apart": [
        set_colours(lambda self, spec, name, *, which, size: np.zeros((size, size, 3), np.uint8)),
        set_colours(lambda self, spec, name, *, which, size: np.full((size, size), len(name), np.uint8)),
        set_colours(
            lambda self, spec, name, *, which, size: (
                None if name == "red" else np.full((size, size, 3), 50 * len(name), np.uint8)
            )
        ),
    ],
    "columns_name_real_facets": [
        break_world(columns=lambda self, spec: (Column("red", "color", "red"),)),
        break_world(columns=lambda self, spec: (Column("black", "colour", "black"),)),
        break_world(columns=lambda self, spec: (Column("black", "color", "black"), Column("black", "color", "white"))),
    ],
    "views_draw_real_facets": [
        break_world(views=(VIEW._replace(facet="colour"),)),
        break_world(views=(VIEW, VIEW._replace(facet="answer"))),
        break_world(views=(VIEW._replace(name="Colours?"),)),
        break_world(views=(VIEW._replace(axis=""),)),
    ],
    "board_views_read_real_facets": [
        break_world(board_views=(BOARD._replace(by="colour"),)),
        break_world(board_views=(BOARD, BOARD)),
        break_world(board_views=(BOARD._replace(name="By colour"),)),
        break_world(board_views=(BOARD._replace(title=""),)),
        break_world(board_views=(BOARD._replace(filters={"color": ("red",)}),)),
        break_world(board_views=(BOARD._replace(series=(Series("red", {"color": ("red",)}),)),)),
        break_world(board_views=(BOARD._replace(series=(Series("", {}),)),)),
    ],
    "expected_shares_are_those_of_real_facets": [
        break_world(expected_shares=lambda self, spec: {"colour": [1.0]}),
        break_world(expected_shares=lambda self, spec: {"answer": [1.0]}),
        break_world(expected_shares=lambda self, spec: {"answer": [1.0] * len(self.answers(spec))}),
    ],
    "reweighting_reads_real_facets": [
        break_world(reweighting=Reweighting(("colour",))),
        break_world(reweighting=Reweighting(())),
        break_world(reweighting=Reweighting(("type", "answer"), are_different=True)),
    ],
    "tasks_are_columns": [
        break_world(tasks=TASKS._replace(facet="answer")),
        break_world(tasks=TASKS._replace(passed=Fraction(95))),
        break_world(tasks=TASKS._replace(noun="")),
    ],
    "own_baselines_answer_each_question": [
        break_world(baselines=(OWN, OWN)),
        break_world(baselines=(OWN._replace(name="Always 4"),)),
        break_world(baselines=(OWN._replace(sees=""),)),
        break_world(baselines=(OWN._replace(guess=guess_by(lambda item: ["1"])),)),
        break_world(baselines=(OWN._replace(guess=guess_by(lambda item: ["many"] * len(item.questions))),)),
        break_world(
            baselines=(OWN._replace(guess=guess_by(lambda item: [str(next(TICKS) % 7)] * len(item.questions))),)
        ),
    ],
    "programs_without_a_step_are_programs": [
        set_ablation(lambda program: program),
        set_ablation(lambda program: program[:-1]),
        break_world(ablations=(Ablation("a", "a", leave_out), Ablation("a", "a", leave_out))),
        break_world(ablations=(Ablation("A", "a", leave_out),)),
        break_world(ablations=(Ablation("a", "", leave_out),)),
    ],
    "levels_are_changes_of_specs": [
        break_world(levels=(LEVELS, LEVELS)),
        break_world(levels=(LEVELS._replace(name="level"),)),
        break_world(levels=(LEVELS._replace(label=""),)),
        break_world(levels=(LEVELS._replace(facet="colour"),)),
        break_world(levels=(LEVELS._replace(levels={"easy": {}, "hard": {}}),)),
        break_world(levels=(LEVELS._replace(labels=labelled("1", "2", "")),)),
        break_world(levels=(LEVELS._replace(levels=named({}, {}, {"marbles": 3})),)),
    ],
    "secrets_change_the_split": [break_maker(make=make_open)],
    "seeds_change_the_split": [break_maker(make=make_seedless)],
    "other_splits_do_not_matter": [break_maker(make=make_entangled), break_maker(make=make_nameless)],
    "questions_are_well_formed": [
        change_questions(lambda question: replace(question, text="")),
        change_questions(lambda question: replace(question, text=question.text + " ")),
        change_questions(lambda question: replace(question, kind="")),
        change_questions(lambda question: replace(question, scope=99)),
    ],
    "words_are_known_beforehand": [
        break_world(words=lambda self, spec: ("how", "many", "marbles", "are", "black", "?")),
        break_world(words=lambda self, spec: ("how many", "marbles", "are", *COLORS, "?")),
        break_world(words=lambda self, spec: ("how", "many", "many", "marbles", "are", *COLORS, "?")),
        change_questions(lambda question: replace(question, text="How few marbles?")),
    ],
    "longer_splits_begin_alike": [break_maker(plan=plan_growing), break_maker(make=make_counting_items)],
}


@pytest.mark.parametrize(
    ("name", "broken"),
    [pytest.param(name, broken, id=f"{name}-{at}") for name in BROKEN for at, broken in enumerate(BROKEN[name])],
)
def test_a_rule_can_fail(name: str, broken: MarbleWorld):
    rule: Rule = getattr(conformance, name)
    with pytest.raises(AssertionError):
        rule(Case(broken))


def test_levels_of_a_world_may_change_any_field():
    conformance.levels_are_changes_of_specs(Case(break_world(levels=(LEVELS,))))


def test_every_rule_is_tested_to_fail():
    assert set(BROKEN) == {rule.__name__ for rule in conformance.MAKING}


def test_the_program_prints_each_rule(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(REGISTRY, "marbles", "tests.worlds.marbles:WORLD")
    assert conformance.main("marbles") == 0
    rules_kept = capsys.readouterr().out.splitlines()
    assert rules_kept[-1] == f"marbles keeps {len(rules_kept) - 1} of {len(rules_kept) - 1} rules."
    monkeypatch.setattr(MarbleWorld, "answers", lambda self, spec: NUMBERS[:3])
    assert conformance.main("marbles") == 1
    told = capsys.readouterr()
    assert "BROKEN  answers_are_known_beforehand: The vocabulary of answers" in told.out
    assert "AssertionError" in told.err


def test_a_world_without_a_maker_is_not_checked():
    conformance.hold(break_world(maker=None))
