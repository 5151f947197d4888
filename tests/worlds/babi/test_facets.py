"""The facets of questions about stories, computed again from the lines to which the steps of programs refer."""

from dataclasses import replace

import pytest

from generation.engine.items import Facet, Item, Needs
from generation.engine.program import execute
from generation.engine.worlds.babi.facets import TRAIN, facet_codes, facets, supports_of, train_keys
from generation.engine.worlds.babi.functions import function_table
from generation.engine.worlds.babi.story import Line, Story
from generation.engine.worlds.babi.tasks import BY_NUMBER
from tests.worlds.babi.items import sample_items, spec_of

EACH = pytest.mark.parametrize("task", sorted(BY_NUMBER))


@EACH
def test_facets_follow_from_the_lines_of_the_last_step(task: int) -> None:
    spec, items = sample_items(task)
    values = {facet.name: facet.values for facet in facets(spec)}
    for item in items:
        codes = facet_codes(spec, item)
        for number, question in enumerate(item.questions):
            assert question.program is not None and question.scope is not None and question.answer is not None
            pointed = execute(question.program, item.scene, table=function_table(), scope=question.scope)[-1].elements
            value = {name: values[name][code[number]] for name, code in codes.items()}
            assert value["type"] == BY_NUMBER[task].name
            assert value["answer"] == question.answer.text
            assert int(value["supports"]) == len(pointed) > 0
            assert int(value["lines"]) == question.scope
            since = [len(item.scene.lines[line + 1 : question.scope]) for line in pointed]  # type: ignore[union-attr]
            assert (int(value["distance"]), int(value["nearest"])) == (max(since), min(since))


@EACH
def test_without_a_program_facets_come_from_published_facts_or_are_unknown(task: int) -> None:
    spec, items = sample_items(task)
    item = items[0]
    assert isinstance(item.scene, Story)
    lines = tuple(supports_of(item.scene, question, number) or () for number, question in enumerate(item.questions))
    bare = tuple(replace(question, program=None) for question in item.questions)
    published = replace(item, scene=item.scene._replace(supports=lines), questions=bare)
    assert facet_codes(spec, published) == facet_codes(spec, item)
    unknown = facet_codes(spec, replace(item, questions=bare))
    assert {name for name, codes in unknown.items() if set(codes) == {-1}} == {"supports", "distance", "nearest"}


def test_without_its_story_a_question_has_only_three_facets() -> None:
    spec, items = sample_items(1)
    codes = facet_codes(spec, replace(items[0], scene=None))
    known = {name for name, values in codes.items() if set(values) != {-1}}
    assert known == {"type", "answer", "lines"}
    assert train_keys(replace(items[0], scene=None), items[0].questions[0]) == {"seen_story": (), "seen_question": ()}


def test_a_question_without_supporting_facts_has_no_distance() -> None:
    spec, items = sample_items(1)
    story = Story(1, (Line("John went over to the garden.", ()),), ((),))
    question = replace(items[0].questions[0], program=None, scope=None)
    codes = facet_codes(spec, Item(story, None, (question,)))
    assert (codes["supports"], codes["lines"], codes["distance"], codes["nearest"]) == ([0], [1], [-1], [-1])


def test_train_keys_are_the_story_and_the_lines_before_the_question() -> None:
    lines = tuple(Line(f"Line {number}.", ()) for number in range(3))
    first, second = sample_items(1)[1][0].questions[:2]
    item = Item(Story(1, lines), None, (replace(first, scope=1), replace(second, scope=3)))
    keys = [train_keys(item, question) for question in item.questions]
    assert {one["seen_story"] for one in keys} == {("Line 0.\nLine 1.\nLine 2.",)}
    assert keys[0]["seen_question"] == (f"Line 0.\n{first.text}",)
    shorter = replace(item, scene=Story(1, lines[:1]))
    assert train_keys(shorter, item.questions[0])["seen_question"] == keys[0]["seen_question"]
    assert train_keys(shorter, item.questions[0])["seen_story"] != keys[0]["seen_story"]


def test_only_facets_of_answers_and_supports_are_revealing() -> None:
    found: tuple[Facet, ...] = facets(spec_of(1))
    assert {facet.name for facet in found if facet.reveals} == {"answer", "supports", "distance", "nearest"}
    assert {facet.name for facet in found if facet.needs == Needs.TRAIN} == set(TRAIN)
