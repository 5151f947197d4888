"""Programs in plain words."""

from collections.abc import Mapping

import pytest

from generation.engine.items import Item
from generation.engine.program import Step
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.question_text import say
from generation.engine.worlds.clevr.spec import ClevrSpec

SPEC = get_world("clevr").read_spec({"base": "clevr-mini"})
assert isinstance(SPEC, ClevrSpec)
WORDS = SPEC.vocabulary


def describe(text: str) -> str:
    """Return a program in words. Each step of the text is `function`, `function:value` or `function@inputs`."""
    steps: list[Step] = []
    for number, word in enumerate(text.split()):
        word, _, sources = word.partition("@")
        function, _, value = word.partition(":")
        inputs = tuple(int(source) for source in sources.split(",")) if sources else (number - 1,)
        steps.append(Step(function, () if function == "scene" else inputs, (value,) if value else ()))
    return say(tuple(steps), WORDS)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("scene count", "How many things are there?"),
        ("scene filter_shape:cube filter_color:red filter_size:large count", "How many large red cubes are there?"),
        ("scene exist", "Are there any things?"),
        ("scene query_color", "What color are all things?"),
        ("scene filter_shape:sphere unique query_material", "What material is the sphere?"),
        ("scene relate:left filter_shape:cube unique query_size", "What size is the cube left of some thing?"),
        (
            "scene filter_shape:cube unique same_color filter_shape:sphere exist",
            "Are there any spheres of the same color as the cube?",
        ),
        (
            "scene filter_shape:cube scene filter_shape:sphere union@1,3 count",
            "How many things that are either cubes or spheres are there?",
        ),
        (
            "scene filter_shape:cube unique relate:left scene filter_shape:sphere unique relate:behind "
            "intersect@3,7 filter_color:red unique query_shape",
            "What shape is the red thing left of the cube and behind the sphere?",
        ),
        (
            "scene filter_shape:cube scene filter_shape:sphere intersect@1,3 count",
            "How many cubes that are spheres are there?",
        ),
        ("scene count scene filter_shape:cube count less_than@1,4", "Are there fewer things than cubes?"),
        ("scene count scene count equal_integer@1,3", "Are there as many things as things?"),
        (
            "scene filter_shape:cube unique query_color scene query_color equal_color@3,5",
            "Does the cube have the same color as all things?",
        ),
        (
            "scene filter_shape:cube unique scene filter_color:red unique equal_object@2,5",
            "Is the cube the same thing as the red thing?",
        ),
    ],
)
def test_programs_in_words(program: str, words: str):
    assert describe(program) == words


def test_every_value_of_a_program_is_in_its_words(mini_items: Mapping[str, list[Item]]):
    seen = 0
    for item in mini_items["train"]:
        for question in item.questions:
            assert question.program is not None
            words = say(question.program, WORDS)
            for step in question.program:
                for value in step.values:
                    spoken = WORDS.relations[value][0] if step.function == "relate" else value  # type: ignore[index]
                    assert spoken in words, (words, step)
            assert words.endswith("?")
            seen += 1
    assert seen == 600
