"""Prompts say how to answer, and which words are possible where the question does not."""

from functools import cache
from typing import Any

import pytest

from generation.engine.items import Question
from generation.engine.replies.reply_reader import ReplyReader
from generation.engine.replies.vocabulary import OUTSIDE, AnswerVocabulary, recognised_form
from generation.engine.worlds import get_world
from generation.engine.worlds.answer_prompts import MOST_LISTED, answer_prompt
from generation.engine.worlds.base import World
from generation.engine.worlds.story_text import prompt_of
from generation.specs.presets import find_preset

PLACES = "bathroom, bedroom, garden, hallway, kitchen, office"
PROMPTS = [
    ("clevr-mini", "count", "Answer with a number in digits."),
    ("clevr-mini", "exist", "Answer yes or no."),
    ("clevr-mini", "query_material", "Answer with one of these words: metal, rubber."),
    ("clevr-mini", "query_shape", "Answer with one of these words: cube, cylinder, sphere."),
    ("babi-10k", "single-supporting-fact", f"Answer with one of these words: {PLACES}."),
    ("babi-10k", "yes-no-questions", "Answer yes or no."),
    ("babi-10k", "indefinite-knowledge", "Answer with one of these words: yes, no, maybe."),
    ("babi-10k", "counting", "Answer with one of these words: none, one, two, three."),
    (
        "babi-10k",
        "lists-sets",
        "Answer with words joined by commas, in any order, or with nothing. The words: apple, football, milk.",
    ),
    (
        "babi-10k",
        "path-finding",
        "Answer with 2 of these, joined by commas, in order: n (north), e (east), w (west), s (south).",
    ),
    ("babi-hindi", "simple-negation", "Answer haan or nahin."),
    ("counting", "simple", "Answer with a number in digits."),
    ("simtown-k5", "left", "Answer yes or no."),
]  # fmt: skip


@cache
def opened(preset: str) -> tuple[World, Any]:
    spec = find_preset({"counting": "clevr-counting"}.get(preset, preset))
    world = get_world(spec["world"])
    return world, world.read_spec(spec)


@pytest.mark.parametrize(("preset", "kind", "said"), PROMPTS)
def test_a_prompt_says_the_form_of_the_answer_and_the_possible_words(preset: str, kind: str, said: str) -> None:
    world, spec = opened(preset)
    assert prompt_of(world, spec, Question("What is it?", kind=kind), None) == f"What is it?\n{said}"


def test_the_instruction_of_a_caption_comes_first() -> None:
    world, spec = opened("shapeworld-spatial")
    said = prompt_of(world, spec, Question("There is a green circle.", kind="existential"), ["a", "b"])
    asked = "Does this caption fit the picture?\nThere is a green circle.\nAnswer yes or no."
    assert said == f"1 a\n2 b\n\n{asked}"


def test_an_unknown_kind_of_question_may_have_any_answer_and_long_lists_are_left_out() -> None:
    world, spec = opened("clevr-mini")
    said = world.prompt(spec, Question("What is it?"))
    assert said.startswith("What is it?\nAnswer with one of these answers: ") and "purple" in said and " 10" in said
    form = world.answer_form(spec, Question("What is it?"))
    many = tuple(f"word{number}" for number in range(MOST_LISTED + 1))
    assert answer_prompt(form._replace(choices=many), {}) == "Answer with one word or number."
    assert answer_prompt(form._replace(choices=many[1:]), {}).endswith(f" {many[-1]}.")


@pytest.mark.parametrize("preset", ["clevr-mini", "babi-10k", "babi-hindi", "shapeworld-spatial", "simtown-k5"])
def test_a_model_that_repeats_the_prompt_has_not_answered(preset: str) -> None:
    world, spec = opened(preset)
    kinds = next(facet.values for facet in world.facets(spec) if facet.name == "type")
    forms = [world.answer_form(spec, Question("", kind=kind)) for kind in kinds]
    known = AnswerVocabulary(
        world.answers(spec),
        [recognised_form(form.choices) for form in forms],
        most_counted=world.most_counted(spec),
        synonyms=world.synonyms(spec),
    )
    reader = ReplyReader(known, [[known.exact[choice] for choice in form.choices] for form in forms])
    for number, kind in enumerate(kinds):
        said = world.prompt(spec, Question("What is it?", kind=kind))
        for reply in (said, said.partition("\n")[2], f"Question: {said}\nAnswer:", f"{said}\n\n{said}"):
            assert reader.code(reply, number) == OUTSIDE, reply
