"""What is asked: entities as often as the spec says, for both answers alike; ways and relations as often as asked."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from generation.engine.worlds.simtown.frequencies import pair_table
from generation.engine.worlds.simtown.item_sampler import QuestionPlan, draw
from generation.engine.worlds.simtown.spec import SimTownSpec
from tests import proof
from tests.worlds.simtown.made import (
    ALL_RELATIONS,
    BASES,
    make_items,
    sampler,
    says_yes,
    sized,
    spec_of,
    statements,
    words_asked_of,
)

LEAST = 0.001
Asked = tuple[QuestionPlan, bool]
EVERY = pytest.mark.parametrize(("base", "split"), [(base, split) for base in BASES for split in ("train", "test")])
SHARES = {
    name: {"subject": subject, "object": other}
    for name, subject, other in zip(
        spec_of("simtown-k5").names, (0.4, 0.3, 0.2, 0.1, 0.0), (0.0, 0.15, 0.15, 0.3, 0.4), strict=True
    )
}


@cache
def drawn(base: str, split: str) -> list[Asked]:
    """Return statements of a preset's split."""
    count = proof.size(80_000, name="SimTown statements of each preset and split", least=4_000)
    return list(statements(spec_of(base).for_split(split), count))


def fits(found: Sequence[str], wanted: Mapping[str, float]) -> float:
    """Return the p-value of counts against shares; shares of which fewer than five are expected are put together."""
    counts, total = Counter(found), len(found)
    assert set(counts) <= {name for name, share in wanted.items() if share > 0}
    often = [name for name, share in wanted.items() if share * total >= 5]
    came = [counts[name] for name in often]
    expected = [wanted[name] * total for name in often]
    if total - sum(expected) > 1e-6 * total:
        came, expected = [*came, total - sum(came)], [*expected, total - sum(expected)]
    return float(chisquare(came, expected, sum_check=False).pvalue) if len(came) > 1 else 1.0


def by_answer(found: Sequence[Asked]) -> dict[str, list[QuestionPlan]]:
    """Return all statements, the true ones and the false ones."""
    return {
        "all": [one for one, _ in found],
        "yes": [one for one, holds in found if holds],
        "no": [one for one, holds in found if not holds],
    }


def hold_marginals(found: Sequence[Asked], spec: SimTownSpec) -> None:
    for some in by_answer(found).values():
        assert fits([one.subject for one in some], dict(zip(spec.names, spec.marginals.subjects, strict=True))) > LEAST
        assert fits([one.other for one in some], dict(zip(spec.names, spec.marginals.objects, strict=True))) > LEAST


@EVERY
def test_subjects_and_objects_are_as_frequent_as_asked_for_both_answers(base: str, split: str) -> None:
    spec = spec_of(base).for_split(split)
    uniform = split == "test"
    assert (max(spec.marginals.subjects) == min(spec.marginals.subjects)) == uniform
    hold_marginals(drawn(base, split), spec)


@EVERY
def test_pairs_are_as_frequent_as_the_table_says(base: str, split: str) -> None:
    spec = spec_of(base).for_split(split)
    table = pair_table(spec.marginals)
    wanted = {
        f"{one}, {two}": float(table[i, j]) for i, one in enumerate(spec.names) for j, two in enumerate(spec.names)
    }
    for some in by_answer(drawn(base, split)).values():
        assert fits([f"{one.subject}, {one.other}" for one in some], wanted) > LEAST


@EVERY
def test_relations_are_equally_frequent_for_both_answers(base: str, split: str) -> None:
    for some in by_answer(drawn(base, split)).values():
        assert fits([one.relation for one in some], {"left": 0.5, "right": 0.5}) > LEAST


def test_all_four_relations_are_equally_frequent() -> None:
    spec = spec_of("simtown-k15-distractor", **ALL_RELATIONS)
    for some in by_answer(list(statements(spec, 4_000))).values():
        wanted = dict.fromkeys(("left", "right", "front", "behind"), 0.25)
        assert fits([one.relation for one in some], wanted) > LEAST


@pytest.mark.parametrize("exponent", [0.5, 1.3])
def test_another_exponent_gives_its_own_shares(exponent: float) -> None:
    spec = spec_of("simtown-k15", questions={"exponent": exponent})
    top = spec.ranked[0]
    assert spec.marginals.subjects[spec.names.index(top)] == max(spec.marginals.subjects)
    hold_marginals(list(statements(spec, 4_000)), spec)


def test_shares_one_by_one_are_kept() -> None:
    spec = spec_of("simtown-k5-distractor", questions={"shares": SHARES})
    assert spec.marginals == ((0.4, 0.3, 0.2, 0.1, 0.0), (0.0, 0.15, 0.15, 0.3, 0.4))
    hold_marginals(list(statements(spec, 4_000)), spec)


def test_ranks_decide_who_is_frequent() -> None:
    names = spec_of("simtown-k5").names
    spec = spec_of("simtown-k5", questions={"ranks": list(names)})
    assert list(spec.marginals.subjects) == sorted(spec.marginals.subjects, reverse=True)
    assert spec.marginals.subjects[0] == pytest.approx(60 / 137)
    hold_marginals(list(statements(spec, 4_000)), spec)


@pytest.mark.parametrize("base", ["simtown-k5", "simtown-k15-distractor"])
def test_made_items_ask_with_the_same_frequencies(base: str) -> None:
    """Scenes that find no place are made again, which must not change frequencies."""
    count = proof.size(20_000, name="SimTown items whose frequencies are tested")
    spec = sized(base, train=count)
    found = [(words_asked_of(item), says_yes(item)) for item in make_items(spec, "train")]
    for wanted in (None, True, False):
        some = [one for one, answer in found if wanted is None or answer == wanted]
        for at, shares in ((0, spec.marginals.subjects), (2, spec.marginals.objects)):
            assert fits([one[at] for one in some], dict(zip(spec.names, shares, strict=True))) > LEAST


@EVERY
def test_false_statements_are_false_in_each_way_as_often_as_asked(base: str, split: str) -> None:
    """Only k = 5 with Zipf's law must sometimes reverse the relation, where no other entity can take the place."""
    found = by_answer(drawn(base, split))
    ways = ("reversed", "wrong", "absent") if base.endswith("distractor") else ("reversed", "absent")
    assert {one.way for one in found["yes"]} == {"true"}
    if (base.startswith("simtown-k5"), split) == (True, "train"):
        assert {one.way for one in found["no"]} == set(ways)
    else:
        assert fits([one.way for one in found["no"]], dict.fromkeys(ways, 1 / len(ways))) > LEAST


@pytest.mark.parametrize(
    ("weights", "ways"),
    [
        ({"reversed": 1.0, "wrong": 0.0, "absent": 0.0}, {"reversed": 1.0}),
        ({"reversed": 0.0, "wrong": 0.0, "absent": 2.0}, {"absent": 1.0}),
        ({"reversed": 1.0, "wrong": 2.0, "absent": 1.0}, {"reversed": 0.25, "wrong": 0.5, "absent": 0.25}),
    ],
)
def test_weights_of_false_shares_are_kept(weights: dict[str, float], ways: dict[str, float]) -> None:
    spec = spec_of("simtown-k15-distractor", questions={"false_shares": weights, "frequencies": "uniform"})
    found = by_answer(list(statements(spec, 4_000)))["no"]
    assert fits([one.way for one in found], ways) > LEAST


@EVERY
def test_statements_name_what_their_way_says(base: str, split: str) -> None:
    for one, holds in drawn(base, split):
        shown = {one.first, one.second} | ({one.third} - {None})
        assert one.subject != one.other
        assert len(shown) == (3 if base.endswith("distractor") else 2)
        assert holds == (one.way == "true")
        if one.way == "true":
            assert (one.first, one.second, one.holds) == (one.subject, one.other, one.relation)
        elif one.way == "reversed":
            assert (one.first, one.second) == (one.subject, one.other)
            assert {one.holds, one.relation} == {"left", "right"}
        elif one.way == "wrong":
            assert (one.third, one.second) == (one.subject, one.other)
        else:
            assert len(shown & {one.subject, one.other}) == 1


@EVERY
def test_absent_entities_are_subjects_as_often_as_objects(base: str, split: str) -> None:
    absent = [one for one, _ in drawn(base, split) if one.way == "absent"]
    subjects = sum(one.first != one.subject for one in absent)
    assert fits(["subject"] * subjects + ["object"] * (len(absent) - subjects), {"subject": 0.5, "object": 0.5}) > LEAST


def test_positions_are_drawn_with_their_weights() -> None:
    spec = spec_of("simtown-k5")
    chance = sampler(spec).choices
    found = [draw(np.cumsum([1.0, 0.0, 2.0, 1.0]), chance) for _ in range(4_000)]
    assert fits([str(one) for one in found], {"0": 0.25, "1": 0.0, "2": 0.5, "3": 0.25}) > LEAST


Key = Callable[[QuestionPlan], Any]
SEEN_IN_PICTURES: dict[str, Key] = {
    "the entity that is in the relation": lambda one: one.first,
    "the entity to which it is compared": lambda one: one.second,
    "the pair": lambda one: (one.first, one.second),
    "the distractor": lambda one: one.third,
    "all entities": lambda one: (one.first, one.second, one.third),
    "the relation that holds": lambda one: one.holds,
}


def reveals(base: str, split: str, what: str) -> bool:
    """Return whether entities in pictures may depend on the answer: an absent entity is no distractor either."""
    hidden = ("the entity to which it is compared", "the relation that holds")
    return base.endswith("distractor") and split == "train" and what not in hidden


CASES = [(base, split, what) for base in BASES for split in ("train", "test") for what in SEEN_IN_PICTURES]


@pytest.mark.parametrize(("base", "split", "what"), [case for case in CASES if not reveals(*case)])
def test_pictures_show_the_same_entities_for_both_answers(base: str, split: str, what: str) -> None:
    """A model that sees the picture alone learns nothing about the answer."""
    assert independent(drawn(base, split), SEEN_IN_PICTURES[what]) > LEAST


@pytest.mark.parametrize(("base", "split", "what"), [case for case in CASES if reveals(*case)])
def test_entities_alone_tell_little_beside_a_distractor(base: str, split: str, what: str) -> None:
    """The documentation says how much."""
    found, key = drawn(base, split), SEEN_IN_PICTURES[what]
    half = len(found) // 2
    counts = Counter((key(one), holds) for one, holds in found[:half])
    right = sum((counts[key(one), True] > counts[key(one), False]) == holds for one, holds in found[half:])
    most = {"simtown-k5-distractor": 0.57, "simtown-k15-distractor": 0.54, "simtown-k60-distractor": 0.515}[base]
    assert right / half <= most + 3 * (0.25 / half) ** 0.5


def independent(found: Sequence[Asked], key: Key) -> float:
    """Return the p-value of a table of keys by answers; keys that occur fewer than 20 times are put together."""
    counts = Counter((key(one), holds) for one, holds in found)
    keys = {what for what, _ in counts}
    often = [what for what in keys if counts[what, True] + counts[what, False] >= 20]
    rows = [[counts[what, True], counts[what, False]] for what in often]
    rest = [sum(counts[what, holds] for what in keys.difference(often)) for holds in (True, False)]
    rows += [rest] * (min(rest) > 0)
    return float(chi2_contingency(np.array(rows), correction=False).pvalue) if len(rows) > 1 else 1.0


def test_a_first_item_can_be_made_without_the_others() -> None:
    spec = sized("simtown-k60-distractor", train=1_000)
    [first] = islice(make_items(spec, "train"), 1)
    assert first == next(make_items(spec, "train"))
