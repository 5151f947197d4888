"""The facets of captions: their quantifiers and relations, named shapes and colours, and closeness to a threshold."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

import pytest

from generation.engine.items import Answer, AnswerKind, FacetKind, Needs, Question
from generation.engine.program import typecheck
from generation.engine.worlds.shapeworld.captions import Caption, Captioner
from generation.engine.worlds.shapeworld.facets import (
    ANSWERS,
    BOARD_VIEWS,
    LENGTHS,
    VIEWS,
    answer_form,
    columns,
    facet_codes,
    facets,
    train_keys,
)
from generation.engine.worlds.shapeworld.functions import ABLATIONS, function_table, truth_of
from generation.engine.worlds.shapeworld.logical_form import kind_of, program_of
from generation.engine.worlds.shapeworld.microworld import Microworld
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.scene import Entity, FlatScene
from generation.engine.worlds.shapeworld.scene_sampling import sample_scene
from generation.engine.worlds.shapeworld.spec import PRESETS, ShapeWorldSpec, read_spec
from tests.worlds.shapeworld.drawn import VOCABULARY
from tests.worlds.shapeworld.test_captions import chance

SPEC = read_spec({"splits": {"train": {"scenes": 1}}, "held_out": {"combinations": [["square", "red"]], "counts": [3]}})
PARSER = Parser(VOCABULARY)


def row(*entities: tuple[str, str, float]) -> FlatScene:
    """Return a microworld of shapes in a row, each given by its shape, its colour and its place from the left."""
    found = tuple(Entity(shape, color, 0.0, x, 0.5, 0.1, 0.1, 0.0) for shape, color, x in entities)
    return FlatScene(found, (0,) * len(found), (0,) * len(found), 64, 64)


def question_of(text: str) -> Question:
    program = program_of(PARSER.parse(text))
    return Question(text, program, Answer("yes", AnswerKind.YES_NO), kind_of(program))


def values(text: str, scene: FlatScene | None, spec: ShapeWorldSpec = SPEC) -> Mapping[str, object]:
    """Return the value of each facet for a caption."""
    codes = facet_codes(spec, scene, [question_of(text)])
    found: dict[str, object] = {}
    for facet in facets(spec):
        if facet.needs == Needs.ITEM:
            [code] = codes[facet.name]
            if facet.kind == FacetKind.FLAGS:
                found[facet.name] = [value for bit, value in enumerate(facet.values) if code >> bit & 1]
            else:
                found[facet.name] = None if code < 0 else facet.values[code]
    return found


PAIR = row(("circle", "green", 0.2), ("cross", "blue", 0.5))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There is a green circle.", {"type": "existential", "shapes": ["circle"], "colors": ["green"], "words": "5"}),
        ("There is a circle.", {"type": "single-attribute", "quantifier": None, "relation": None, "closeness": "none"}),
        ("Most circles are green.", {"quantifier": "most", "connective": None, "negated": None, "length": "6"}),
        ("The only circle is green.", {"selector": "only", "quantifier": None, "type": "unique"}),
        ("The lower shape is green.", {"selector": "lower", "quantifier": None}),
        ("The circle is not above a cross.", {"relation": "above", "negated": "yes", "quantifier": "the"}),
        ("The circle is to the left of the cross.", {"relation": "left", "negated": "no", "closeness": "3"}),
        ("As many circles as crosses are green.", {"comparison": "as many", "type": "comparative-quantification"}),
        (
            "Two shapes are green or most shapes are blue.",
            {"quantifier": "several", "connective": "or", "type": "logical", "shapes": [], "colors": ["blue", "green"]},
        ),
    ],
)
def test_facets_of_captions(text: str, expected: Mapping[str, object]):
    found = values(text, PAIR)
    assert {name: found[name] for name in expected} == expected
    assert (found["entities"], found["answer"]) == ("2", "yes")


@pytest.mark.parametrize(("gap", "expected"), [(0.12, "1.25"), (0.14, "1.5"), (0.16, "2"), (0.25, "3"), (0.31, "over")])
def test_closeness_is_the_factor_of_thresholds_at_which_a_caption_becomes_unclear(gap: float, expected: str):
    scene = row(("circle", "green", 0.2), ("cross", "blue", round(0.2 + gap, 6)))
    assert values("The circle is to the left of the cross.", scene)["closeness"] == expected


@pytest.mark.parametrize(
    ("entities", "text", "expected"),
    [
        ([("circle", "green", 0.2)], "There is a circle.", "none"),
        ([("square", "red", 0.2)], "There is a circle.", "combination"),
        ([("circle", "green", 0.2)], "No square is red.", "combination"),
        ([("circle", "green", 0.2)] * 3, "There is a circle.", "count"),
        ([("square", "red", 0.2)] * 3, "There is a circle.", "both"),
    ],
)
def test_the_facet_of_held_out_things_names_combination_and_count(
    entities: list[tuple[str, str, float]], text: str, expected: str
):
    assert values(text, row(*entities))["held_out"] == expected


def test_without_a_picture_facets_of_the_text_are_unchanged():
    here, blind = values("There is a green circle.", PAIR), values("There is a green circle.", None)
    hidden = {facet.name for facet in facets(SPEC) if not facet.reveals and facet.needs == Needs.ITEM}
    assert {name: here[name] for name in hidden} == {name: blind[name] for name in hidden}
    assert [blind[name] for name in ("entities", "held_out", "closeness")] == [None] * 3


def test_without_a_program_only_the_number_of_words_is_known():
    codes = facet_codes(SPEC, PAIR, [Question("There is something.")])
    assert set(codes) == {facet.name for facet in facets(SPEC) if facet.needs == Needs.ITEM}
    assert codes["words"] == [3]
    assert codes["shapes"] == codes["length"] == codes["quantifier"] == [-1]
    assert train_keys(Question("There is something."))["seen_program"] == ()


def test_train_keys_are_the_combinations_and_the_text():
    keys = train_keys(question_of("No red square is below a blue cross."))
    assert keys["seen_combination"] == ["red square", "blue cross"]
    assert keys["seen_text"] == ("No red square is below a blue cross.",)
    assert train_keys(question_of("A circle is red."))["seen_combination"] == ["red circle"]


def test_with_sixty_colours_there_is_no_facet_of_colours():
    colors = {f"c{chr(97 + n // 26)}{chr(97 + n % 26)}": {"rgb": [n + 1, 0, 0]} for n in range(60)}
    spec = read_spec({"splits": {"train": {"scenes": 1}}, "vocabulary": {"colors": colors}})
    assert "colors" not in {facet.name for facet in facets(spec)}
    assert "colors" not in facet_codes(spec, PAIR, [question_of("There is a green circle.")])


def captioned_scenes(name: str, count: int) -> Iterator[tuple[ShapeWorldSpec, FlatScene, Caption]]:
    """Yield captions of the test split of a preset."""
    spec = read_spec(PRESETS[name]).for_split("test")
    captioner, random = Captioner(spec), chance(7)
    for turn in range(2 * count):
        scene = sample_scene(spec, random)
        caption = captioner.caption(scene, random, fits=turn % 2 == 0, other=lambda: sample_scene(spec, random))
        if caption is not None:
            yield spec, scene, caption


NAMES = [name for name in tuple(PRESETS) if name != "shapeworld-mixer"]


@pytest.mark.parametrize("name", NAMES)
def test_every_caption_of_a_preset_has_codes_in_range(name: str):
    for spec, scene, caption in islice(captioned_scenes(name, 40), 40):
        question = Question(caption.text, caption.program, Answer(ANSWERS[not caption.agreement], AnswerKind.YES_NO))
        codes = facet_codes(spec, scene, [question])
        for facet in facets(spec):
            if facet.needs == Needs.ITEM and facet.name != "type":
                most = 2 ** len(facet.values) if facet.kind == FacetKind.FLAGS else len(facet.values)
                assert -1 <= codes[facet.name][0] < min(most, 2**16), facet.name
        assert codes["words"][0] > 0
        assert codes["length"][0] == len(caption.program)


@pytest.mark.parametrize("name", NAMES)
def test_programs_without_a_step_can_be_executed(name: str):
    for spec, scene, caption in islice(captioned_scenes(name, 20), 20):
        table = function_table(
            shapes=spec.vocabulary.values("shape"),
            colors=spec.vocabulary.values("color"),
            thresholds=spec.captions.thresholds,
            kind_of=kind_of,
        )
        for ablation in ABLATIONS:
            changed = ablation.change(caption.program)
            if changed is not None:
                assert len(changed) < len(caption.program)
                assert typecheck(changed, table=table) == "Truth"
                assert truth_of(changed, Microworld(scene, spec.captions.thresholds)) in (-1, 0, 1)


def test_boards_and_charts_use_existing_facets():
    known = {facet.name: facet for facet in facets(SPEC)}
    assert {view.facet for view in VIEWS} | set(LENGTHS) <= set(known)
    for view in BOARD_VIEWS:
        assert view.facets <= set(known)
        assert re.fullmatch(r"[a-z-]+", view.name)
        for series in view.series:
            assert all(set(wanted) <= set(known[name].values) for name, wanted in series.filters.items())
    for name in NAMES:
        spec = read_spec(PRESETS[name])
        assert len(columns(spec)) > 3
        assert all(column.value in known[column.facet].values for column in columns(spec))


def test_people_and_models_are_asked_whether_the_caption_fits_the_picture():
    question = question_of("There is a green circle.")
    form = answer_form(question)
    assert (form.choices, form.kind, form.instruction) == (
        ("yes", "no"),
        "yes-no",
        "Does this caption fit the picture?",
    )
