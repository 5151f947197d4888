"""The verification of CLEVR accepts generated and published items, and every change is found by its own check."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.balance import may_answer
from generation.engine.items import Answer, AnswerKind, Item, Question
from generation.engine.program import from_json, to_json
from generation.engine.verification.checks import Checker
from generation.engine.verification.proof import Flaw, Proof
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.proofs.balance import Balance
from generation.engine.worlds.clevr.proofs.pictures import box, shrunk
from generation.engine.worlds.clevr.proofs.questions import read_back
from generation.engine.worlds.clevr.scene import ClevrScene, SceneObject
from generation.engine.worlds.clevr.spec import ClevrSpec, QuestionParameters
from tests.engine.search_twin import Twin
from tests.engine.test_search import TEMPLATES
from tests.proof import size

WORLD, MAKER = get_world("clevr"), get_maker("clevr")
Change = Callable[[Item], Item]


def flaws_of(items: Sequence[Item], spec: ClevrSpec, *, made: bool = True) -> list[Flaw]:
    """Return all errors in the items of a chunk."""
    checker, proof = Checker(WORLD, spec, made=made), Proof()
    checker.begin()
    found = []
    for item in items:
        checker.prove(item, proof)
        found += proof.settle()
    return found


def checks_of(flaws: Sequence[Flaw]) -> set[str]:
    return {flaw.check for flaw in flaws}


@pytest.fixture(scope="module")
def items(mini_items: Mapping[str, list[Item]]) -> list[Item]:
    """Generated items in order from the start of a chunk."""
    return mini_items["val"]


@pytest.fixture(scope="module")
def plain(items: list[Item]) -> Item:
    """One of the items, reordered so that its first question asks for a colour."""
    return next(
        replace(item, questions=(question, *(other for other in item.questions if other is not question)))
        for item in items
        for question in item.questions
        if question.kind == "query_color" and len(question.program or ()) > 5
    )


def test_generated_items_are_valid(mini: ClevrSpec, mini_items: Mapping[str, list[Item]]):
    for split, made in mini_items.items():
        assert flaws_of(made, mini.for_split(split)) == []


@pytest.mark.slow
def test_items_generated_by_other_rules_are_valid():
    for changes in (
        {"questions": {"degeneracy": "clevr", "optional_words": 0.0}},
        {"questions": {"window": 5, "per_scene": 12, "optional_words": 1.0}, "scene": {"relation_threshold": 0.0}},
    ):
        spec = WORLD.read_spec({"base": "clevr-mini", "seed": 7, "splits": {"train": {"scenes": 20}}, **changes})
        for chunk in MAKER.plan(spec, "train"):
            made = list(MAKER.make(spec, "train", chunk))
            assert flaws_of(made, spec.for_split("train")) == []


def test_published_scenes_are_valid_and_a_moved_object_is_found(mini: ClevrSpec, real_scenes: list[dict[str, Any]]):
    theirs = [Item(WORLD.read_scene(scene), None, ()) for scene in real_scenes]
    assert flaws_of(theirs, mini, made=False) == []
    moved = replace(theirs[0], scene=change_object(theirs[0].scene, coords=(1.5, 1.5, 0.7)))
    assert "references" in checks_of(flaws_of([moved], mini, made=False))


def change_object(scene: Any, *, number: int = 0, **changes: Any) -> ClevrScene:
    """Return a scene with a changed object."""
    objects = list(scene.objects)
    objects[number] = objects[number]._replace(**changes)
    return replace(scene, objects=tuple(objects))


def edit(item: Item, **changes: Any) -> Item:
    """Return an item with a changed first question."""
    return replace(item, questions=(replace(item.questions[0], **changes), *item.questions[1:]))


def next_value(value: str, values: Sequence[str]) -> str:
    return values[(values.index(value) + 1) % len(values)]


def change_answer(item: Item) -> Item:
    answer = item.questions[0].answer
    assert answer is not None
    colors = ("blue", "brown", "cyan", "gray", "green", "purple", "red", "yellow")
    return edit(item, answer=answer._replace(text=next_value(answer.text, colors)))


def change_step(item: Item) -> Item:
    program = list(item.questions[0].program or ())
    at = next(number for number, step in enumerate(program) if step.values)
    options = WORLD.functions(WORLD.read_spec({"base": "clevr-mini"}))
    assert options is not None
    kind = options.functions[program[at].function].values[0]
    program[at] = program[at]._replace(values=(next_value(program[at].values[0], options.values[kind]),))
    return edit(item, program=tuple(program))


def change_relation(item: Item) -> Item:
    assert isinstance(item.scene, ClevrScene)
    left = [list(row) for row in item.scene.relationships["left"]]
    left[0] = [] if left[0] else [1]
    changed = {**item.scene.relationships, "left": tuple(tuple(row) for row in left)}
    return replace(item, scene=replace(item.scene, relationships=changed))


TAMPERED: dict[str, tuple[Change, str]] = {
    "answer": (change_answer, "programs"),
    "answer outside the vocabulary": (lambda i: edit(i, answer=Answer("orange", AnswerKind.VALUE)), "vocabulary"),
    "kind of answer": (lambda i: edit(i, answer=i.questions[0].answer._replace(kind="word")), "programs"),
    "type": (lambda i: edit(i, kind="query_shape"), "programs"),
    "step": (change_step, "programs"),
    "program cut short": (lambda i: edit(i, program=(i.questions[0].program or ())[:-1]), "programs"),
    "program of no steps": (lambda i: edit(i, program=()), "programs"),
    "family": (lambda i: edit(i, family=(i.questions[0].family or 0) + 1), "families"),
    "no such family": (lambda i: edit(i, family=90), "families"),
    "no family": (lambda i: edit(i, family=None), "families"),
    "text": (lambda i: edit(i, text=i.questions[1].text), "texts"),
    "one word": (lambda i: edit(i, text=i.questions[0].text.replace("?", " now?")), "texts"),
    "a question asked twice": (lambda i: replace(i, questions=(i.questions[0], *i.questions[:-1])), "families"),
    "a question left out": (lambda i: replace(i, questions=i.questions[:-1]), "families"),
    "relation": (change_relation, "references"),
    "place": (lambda i: replace(i, scene=change_object(i.scene, coords=(0.123456, 0.5, 0.7))), "references"),
    "pixel": (lambda i: replace(i, scene=change_object(i.scene, pixel_coords=(10, 10, 10.0))), "references"),
    "directions": (lambda i: replace(i, scene=replace(i.scene, directions={})), "references"),
    "colour": (lambda i: replace(i, scene=change_object(i.scene, color="orange")), "vocabulary"),
    "height": (lambda i: replace(i, scene=change_object(i.scene, coords=(2.0, 2.0, 0.5))), "scenes"),
    "turn": (lambda i: replace(i, scene=change_object(i.scene, rotation=-1.0)), "scenes"),
    "camera": (lambda i: replace(i, view=replace(i.view, camera=(9.0, -6.5, 5.3))), "scenes"),
    "lamp": (lambda i: replace(i, view=replace(i.view, key=(0.0, 0.0, 9.0))), "scenes"),
    "size of the picture": (lambda i: replace(i, view=replace(i.view, width=481)), "scenes"),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_every_change_is_found(name: str, mini: ClevrSpec, plain: Item):
    change, check = TAMPERED[name]
    assert flaws_of([plain], mini) == []
    changed = change(plain)
    assert changed != plain
    found = flaws_of([changed], mini)
    assert check in checks_of(found)
    assert all(flaw.expected and flaw.came for flaw in found)


def test_objects_that_are_too_close_too_many_or_hidden_are_found(mini: ClevrSpec, plain: Item):
    for scene, words in (
        ({"min_distance": 3.0}, "apart"),
        ({"margin": 2.0}, "along"),
        ({"objects_min": 1, "objects_max": 2}, "1 to 2 objects"),
        ({"min_pixels": 5000}, "at least 5000 pixels"),
        ({"extent": 1.5, "objects_max": 3}, "within 1.5"),
    ):
        stricter = mini.model_copy(update={"scene": mini.scene.model_copy(update=scene)})
        found = [flaw for flaw in flaws_of([plain], stricter) if flaw.check == "scenes"]
        assert any(words in flaw.expected for flaw in found), scene


def test_redundant_relations_are_found_as_by_the_twin(mini: ClevrSpec):
    """The questions follow the original rules. By the stricter rules, the same ones fail as with brute force."""
    loose = {"base": "clevr-mini", "seed": 3, "questions": {"degeneracy": "clevr", "trivial_share": 0.5}}
    scenes = size(200, name="scenes whose questions the twin judges too")
    spec = WORLD.read_spec({**loose, "splits": {"train": {"scenes": scenes}, "val": None, "test": None}})
    made = [item for chunk in MAKER.plan(spec, "train") for item in MAKER.make(spec, "train", chunk)]
    values = {name: mini.vocabulary.values(name) for name in ("size", "color", "material", "shape")}
    families = {family.number: family for family in mini.families}
    refused = 0
    for item in made:
        wrong = {f.question for f in flaws_of([item], mini) if f.check in ("degeneracy", "families")}
        for number, question in enumerate(item.questions):
            assert question.program is not None and question.family is not None and item.scene is not None
            family = families[question.family]
            reading = read_back(question.program, family)
            assert reading is not None
            said = {param.name: reading.values.get(at) for at, param in enumerate(family.params)}
            twin = Twin(TEMPLATES[question.family], item.scene.to_json(), values=values, mode="reference")
            assert (twin.admitted(said) is None) == (number in wrong), question.text
            refused += number in wrong
    assert refused > scenes / 4


@pytest.mark.parametrize(
    ("preset", "split", "other"),
    [("clevr-cogent-mini", "valA", "valB"), pytest.param("clevr-length-mini", "train", "test", marks=pytest.mark.full)],
)
def test_rules_hold_in_their_split_and_violations_are_found(preset: str, split: str, other: str):
    data = {**MAKER.preset(preset)}
    data["splits"] = {name: {**one, "scenes": 3} for name, one in data["splits"].items()}
    spec = WORLD.read_spec(data)
    made = [item for chunk in MAKER.plan(spec, split) for item in MAKER.make(spec, split, chunk)]
    assert flaws_of(made, spec.for_split(split)) == []
    assert checks_of(flaws_of(made, spec.for_split(other))) == {"rules"}


@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=11),
    st.integers(0, 10),
    st.sampled_from([1.0, 1.1, 2.0]),
    st.sampled_from([1.0, 5.0]),
    st.integers(1, 6),
)
def test_the_balance_rule_equals_that_of_the_search(
    counts: list[int], pick: int, ratio: float, median_ratio: float, floor: int
):
    answers = tuple(str(number) for number in range(len(counts)))
    family = SPEC.families[0]._replace(answers=answers)
    parameters = QuestionParameters.model_validate(
        {"balance": {"ratio": ratio, "median_ratio": median_ratio, "median_floor": floor}}
    )
    replay = Balance(parameters, strict=True)
    for answer, count in zip(answers, counts, strict=True):
        for _ in range(count):
            replay.refusal(family, answer, is_idle=False)
    replay.settle()
    answer = pick % len(counts)
    allowed = bool(may_answer(np.array(counts), answer, ratio, median_ratio, floor))
    assert (replay.refusal(family, answers[answer], is_idle=False) == "") == allowed


SPEC = WORLD.read_spec({"base": "clevr-mini"})
assert isinstance(SPEC, ClevrSpec)


def test_redundant_relations_are_limited_to_a_share():
    replay = Balance(QuestionParameters(), strict=True)
    family = SPEC.families[0]
    assert "idle in at most 10 %" in replay.refusal(family, family.answers[0], is_idle=True)
    assert Balance(QuestionParameters(), strict=False).refusal(family, family.answers[0], is_idle=True) == ""


def test_questions_that_violate_the_balance_are_found(mini: ClevrSpec, items: list[Item]):
    """The same scene is repeated. Every question is correct, but the answers become too frequent."""
    found = flaws_of([items[0]] * 3, mini)
    assert checks_of(found) == {"balance"}


def test_a_program_is_read_back_only_by_families_of_its_form(mini: ClevrSpec, plain: Item):
    program = from_json(to_json(plain.questions[0].program or ()))
    own = plain.questions[0].family
    readable = [family.number for family in mini.families if read_back(program, family) is not None]
    assert own in readable and len(readable) < 5


# Pictures


@pytest.fixture(scope="module")
def drawn(mini: ClevrSpec, plain: Item) -> tuple[np.ndarray, np.ndarray]:
    """The picture of an item, and its object ids."""
    return MAKER.render(mini, "val", plain)


def flaws_of_pictures(item: Item, spec: ClevrSpec, rgb: Any, ids: Any) -> list[Flaw]:
    """Return all errors in the pictures of an item."""
    proof = Proof()
    Checker(WORLD, spec, made=True).prove_pictures(item, rgb, ids, proof)
    return proof.settle()


def test_drawn_pictures_are_valid(mini: ClevrSpec, items: list[Item]):
    for item in items[: size(20)]:
        assert flaws_of_pictures(item, mini, *MAKER.render(mini, "val", item)) == []


def test_a_picture_of_another_scene_is_found(mini: ClevrSpec, items: list[Item], plain: Item, drawn: Any):
    other = next(item for item in items if item.scene != plain.scene)
    assert checks_of(flaws_of_pictures(other, mini, *drawn)) == {"images", "masks"}


def test_a_painted_object_is_found(mini: ClevrSpec, plain: Item, drawn: Any):
    rgb, ids = drawn
    largest = np.bincount(ids.ravel())[1:].argmax() + 1
    painted = np.where((ids == largest)[:, :, None], 255 - rgb, rgb).astype(np.uint8)
    assert checks_of(flaws_of_pictures(plain, mini, painted, ids)) == {"images"}


def test_shifted_swapped_additional_or_lost_object_ids_are_found(mini: ClevrSpec, plain: Item, drawn: Any):
    rgb, ids = drawn
    swapped = ids.copy()
    swapped[ids == 1], swapped[ids == 2] = 2, 1
    for changed, words in (
        (np.roll(ids, 12, axis=1), "within columns"),
        (swapped, "within columns"),
        (np.where(ids == 1, 99, ids), "object ids up to"),
        (np.where(ids == 1, 0, ids), "at least 200 pixels"),
        (np.where(np.indices(ids.shape).sum(axis=0) % 3 == 0, 0, ids), "99.9 % of pixels"),
        (ids[:-1], "object ids of shape (320, 480)"),
    ):
        found = flaws_of_pictures(plain, mini, rgb, changed.astype(np.uint16))
        assert checks_of(found) == {"masks"}
        assert any(words in flaw.expected for flaw in found), words


def test_a_picture_of_another_size_is_found(mini: ClevrSpec, plain: Item, drawn: Any):
    [flaw] = flaws_of_pictures(plain, mini, drawn[0][:, :-1], drawn[1])
    assert flaw.check == "images" and "(320, 480, 3)" in flaw.expected


def test_every_solid_is_inside_its_box():
    """This holds for other cameras too, and for objects at the edge."""
    solids = {name: {"solid": name} for name in ("cone", "cube", "cylinder", "sphere", "torus")}
    words = WORLD.read_spec({"base": "clevr-mini", "vocabulary": {"shapes": solids}}).vocabulary
    from generation.engine.worlds.clevr.picture import draw_ids

    draw = random.Random(4)
    for _ in range(size(400, name="silhouettes in their boxes")):
        view = View(camera=(7.5 + draw.uniform(-0.5, 0.5), -6.5 + draw.uniform(-0.5, 0.5), 5.3), width=240, height=160)
        place = (draw.uniform(-3, 3), draw.uniform(-3, 3), 0.7)
        thing = SceneObject(draw.choice(list(solids)), "large", "metal", "red", place, draw.uniform(0, 360), (0, 0, 1))
        rows, columns = np.nonzero(draw_ids([thing], view, words))
        left, top, right, bottom = box(thing, view, words)
        assert len(rows) and columns.min() >= left - 0.5 and columns.max() <= right - 0.5
        assert rows.min() >= top - 0.5 and rows.max() <= bottom - 0.5


def test_shrinking_computes_means():
    rgb = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    assert np.abs(shrunk(rgb, 2, 3) - rgb.reshape(2, 2, 3, 2, 3).mean(axis=(1, 3))).max() <= 0.5


def test_families_of_imported_questions_are_not_verified(mini: ClevrSpec, plain: Item):
    proof = Proof()
    Checker(WORLD, mini, made=False).prove(edit(plain, text="anything", family=None), proof)
    assert proof.settle() == []
    assert proof.open["families, wording and balance of questions that we did not ask"] == len(plain.questions)


def test_missing_data_is_reported_as_not_verified(mini: ClevrSpec, plain: Item):
    proof = Proof()
    bare = Item(None, None, (Question("Is it?"), replace(plain.questions[0], family=None)))
    Checker(WORLD, mini, made=False).prove(bare, proof)
    assert proof.settle() == []
    assert proof.open["questions without an answer"] == proof.open["questions without a program"] == 1
    assert proof.open["programs without a scene"] == 1
