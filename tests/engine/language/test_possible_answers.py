"""The possible answers of families, in small random vocabularies, beside what the search finds on many scenes."""

import json
import random
from collections.abc import Mapping, Sequence

import numpy as np

from generation.engine.language.families import Family, Language
from generation.engine.language.family_files import read_families
from generation.engine.language.possible_answers import Variety, possible_answers, reason_left_out
from generation.engine.search import Searcher, SearchRules
from tests.engine.test_search import RELATIONS, TEXTS, for_search
from tests.proof import size
from tests.worlds.clevr.drawn import random_scene
from tests.worlds.clevr.twin import ATTRIBUTES

RULES = SearchRules(strict=True, trivial_share=0.1, states=3000, ratio=1e3, median_ratio=1e3, median_floor=10**4)
MANY, FEW = 300, 40  # scenes
Values = Mapping[str, Sequence[str]]


def language_of(values: Values, most: int) -> Language:
    return Language(tuple((name, tuple(values[name])) for name in ATTRIBUTES), RELATIONS, most)


def vocabulary(counts: Sequence[int]) -> dict[str, tuple[str, ...]]:
    pairs = zip(ATTRIBUTES, counts, strict=True)
    return {name: tuple(f"{name} {number}" for number in range(count)) for name, count in pairs}


def found_answers(family: Family, values: Values, *, least: int, most: int, seed: int, scenes: int) -> set[str]:
    """Return up to two answers that the search finds on random scenes."""
    chance = random.Random(seed)
    generator = np.random.Generator(np.random.PCG64(seed))
    search = Searcher([family], language=language_of(values, most), rules=RULES, generator=generator)
    search.tables.answers[0] = len(family.answers)  # also of a family with one answer
    found: set[str] = set()
    for _ in range(scenes):
        scene = random_scene(chance, chance.randint(least, most), values=values)
        asked = search.ask(for_search(scene, values), wanted=1)
        found |= set() if asked is None else {family.answers[asked.answers[0]]}
        if len(found) > 1:
            break
    return found


def compare(counts: Sequence[int], *, least: int, most: int, seed: int, are_all_found: bool) -> None:
    values = vocabulary(counts)
    families = read_families(TEXTS, language=language_of(values, most))
    variety = Variety(values, least, most)
    possible = {family.number: possible_answers(family, language_of(values, most), variety) for family in families}
    trivial = [family for family in families if len(possible[family.number]) < 2]
    others = [family for family in families if len(possible[family.number]) > 1]
    chance = random.Random(seed)
    for family in chance.sample(trivial, min(3, len(trivial))):
        found = found_answers(family, values, least=least, most=most, seed=seed, scenes=FEW)
        assert found <= possible[family.number], (family.number, counts)
    for family in chance.sample(others, min(5, len(others))) if are_all_found else ():
        assert len(found_answers(family, values, least=least, most=most, seed=seed, scenes=MANY)) == 2, (
            family.number,
            counts,
        )


def test_a_family_that_is_left_out_never_has_another_answer() -> None:
    for seed in range(size(100, least=4, name="vocabularies whose trivial families are held against the search")):
        chance = random.Random(seed)
        counts, least = [chance.randint(1, 3) for _ in ATTRIBUTES], chance.randint(1, 6)
        compare(counts, least=least, most=least + chance.randint(0, 4), seed=seed, are_all_found=False)


def test_a_family_that_is_asked_has_two_answers() -> None:
    for seed in range(size(60, least=3, name="vocabularies whose other families are held against the search")):
        counts = random.Random(seed).sample([1, 2, 2, 3], 4)
        compare(counts, least=3, most=8, seed=seed, are_all_found=True)


def test_reasons_are_given_in_words() -> None:
    assert reason_left_out(frozenset({"yes"})) == "the answer is always yes"
    assert reason_left_out(frozenset()) == "no scene allows such a question"
    assert reason_left_out(frozenset({"yes", "no"})) == ""


def test_own_families_follow_the_same_rule() -> None:
    family = {
        "params": [],
        "text": ["Are there as many things as things?", "Count all!"][:1],
        "nodes": [
            {"type": "scene", "inputs": []},
            {"type": "count", "inputs": [0]},
            {"type": "equal_integer", "inputs": [1, 1]},
        ],
    }
    counted = {**family, "text": ["How many things?"], "nodes": family["nodes"][:2]}
    language = language_of(vocabulary([2, 2, 2, 2]), 10)
    same, count = read_families({"own.json": json.dumps([family, counted])}, language=language)
    variety = Variety(dict(language.attributes), 3, 10)
    assert possible_answers(same, language, variety) == {"yes"}
    assert len(possible_answers(count, language, variety)) > 1
    assert possible_answers(count, language, variety._replace(least=10)) == {"10"}
