"""Statements: one program and distinct texts for each, and words that depend on nothing but chance."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.language.token_vocabulary import split_words
from generation.engine.program import Step, typecheck
from generation.engine.seeding import Stage, stream
from generation.engine.worlds.counting.statements import (
    COMPLEX,
    SIMPLE,
    Statement,
    StatementSampler,
    are_apart,
    fits,
    kind_of,
    program_of,
    say,
    statement_of,
    wordings,
    words,
)
from tests import proof
from tests.worlds.counting.made import WORLD, spec_of

SPEC = spec_of()
WORDS = SPEC.clevr.vocabulary
KINDS = st.lists(st.sampled_from([SIMPLE, COMPLEX]), min_size=1, max_size=2)


def sampler(seed: int, *, relation_share: float = 0.5) -> StatementSampler:
    chance = stream(seed=seed, split="statements", index=0, stage=Stage.QUESTIONS)
    return StatementSampler(WORDS, relation_share=relation_share, chance=chance)


@given(st.integers(0, 10_000), KINDS, st.sampled_from([0.0, 0.5, 1.0]))
def test_statements_of_a_scene_describe_different_objects(seed: int, kinds: list[str], share: float) -> None:
    making = sampler(seed, relation_share=share)
    found = making.draw(kinds)
    said = [description for one in found for description in one.descriptions]
    assert [one.kind for one in found] == kinds
    for look in making.looks:
        assert sum(fits(look, description) for description in said) <= 1
    assert any(not any(fits(look, description) for description in said) for look in making.looks)
    for one, two in combinations(said, 2):
        assert are_apart(one, two) and are_apart(two, one)
        assert not any(fits(look, one) and fits(look, two) for look in making.looks)


@given(st.integers(0, 10_000))
def test_a_program_is_read_back_as_its_statement(seed: int) -> None:
    for statement in sampler(seed).draw([COMPLEX, SIMPLE]):
        program = program_of(statement)
        table = WORLD.functions(SPEC)
        assert table is not None
        assert typecheck(program, table=table) == "Integer"
        assert statement_of(program) == statement
        assert kind_of(program) == statement.kind


@pytest.mark.parametrize(
    "program",
    [
        (Step("scene"), Step("exist", (0,))),
        (
            Step("scene"),
            Step("filter_color", (0,), ("red",)),
            Step("filter_shape", (0,), ("cube",)),
            Step("count", (2,)),
        ),
        (Step("scene"), Step("filter_shape", (0,), ("cube",)), Step("unique", (1,)), Step("query_color", (2,))),
        (Step("scene"), Step("scene"), Step("union", (0, 1)), Step("count", (2,))),
    ],
)
def test_other_programs_are_no_statements(program: tuple[Step, ...]) -> None:
    assert statement_of(program) is None
    assert kind_of(program) == COMPLEX


def test_no_text_asks_two_things() -> None:
    making, meanings = sampler(0), dict[str, Statement]()
    for _ in range(proof.size(20_000, name="counting statements in all wordings")):
        for statement in making.draw([COMPLEX]) + making.draw([SIMPLE]):
            for text in wordings(statement, WORDS):
                assert meanings.setdefault(text, statement) == statement


@given(st.integers(0, 10_000))
def test_a_text_is_a_wording_in_known_words(seed: int) -> None:
    making = sampler(seed)
    for statement in making.draw([COMPLEX, SIMPLE]):
        text = say(statement, WORDS, making.chance)
        assert text in set(wordings(statement, WORDS))
        assert text.startswith("How many ") and text.endswith("?") and "  " not in text
        assert set(split_words(text)) <= set(words(WORDS))


def test_simple_questions_name_each_shape_equally_often() -> None:
    making, count = sampler(3), proof.size(30_000, name="simple counting statements", least=3_000)
    shapes = Counter(making.draw([SIMPLE])[0].noun for _ in range(count))
    assert set(shapes) == {"cube", "cylinder", "sphere"}
    for found in shapes.values():
        assert found == pytest.approx(count / 3, abs=4 * (count * 2 / 9) ** 0.5)


@pytest.mark.parametrize("kinds", [[COMPLEX], [COMPLEX, SIMPLE], [COMPLEX, COMPLEX]])
def test_the_share_of_relations_is_that_of_the_spec(kinds: list[str]) -> None:
    making, count = sampler(4, relation_share=0.3), proof.size(10_000, name="complex counting statements", least=1_000)
    drawn = [one for _ in range(count) for one in making.draw(kinds) if one.kind == COMPLEX]
    related = sum(bool(one.relation) for one in drawn)
    assert related / len(drawn) == pytest.approx(0.3, abs=4 * (0.21 / len(drawn)) ** 0.5)
