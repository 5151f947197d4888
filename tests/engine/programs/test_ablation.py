"""Whether wrong answers are what programs give without a step, beside twins that shuffle in every way there is."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.programs.ablation import ExplainedErrorCount, alike, best, count_explained
from generation.engine.scoring.figures import TOO_FEW, Interval, wilson
from generation.engine.scoring.score import NONE, OUTSIDE

QUESTION = st.tuples(
    st.integers(-3, 3),  # said
    st.integers(-1, 3),  # true
    st.integers(-1, 3),  # without the step
    st.integers(0, 1),  # kind
    st.integers(2, 4),  # choices
)
QUESTIONS = st.lists(QUESTION, min_size=1, max_size=7)


def columns(questions):
    return [np.array(column, np.int64) for column in zip(*questions, strict=True)]


def counting(questions):
    """Return those questions whose wrong answers count, as (said, without, group)."""
    return [
        (said, without, (kind, true))
        for said, true, without, kind, choices in questions
        if true >= 0 and choices > 2 and said not in (NONE, true) and without >= 0 and without != true
    ]


def hits_of_every_shuffle(kept):
    """Return how many hits each way gives to hand the wrong answers of a group to its questions."""
    groups = {}
    for said, without, group in kept:
        groups.setdefault(group, []).append((said, without))
    ways = []
    for members in groups.values():
        given = [said for said, _ in members]
        wanted = [without for _, without in members]
        ways.append([sum(a == b for a, b in zip(way, wanted, strict=True)) for way in permutations(given)])
    return [sum(way) for way in product(*ways)]


@settings(max_examples=60)
@given(QUESTIONS)
def test_share_chance_and_p_are_those_of_all_shuffles(questions):
    said, true, without, kinds, choices = columns(questions)
    [found] = count_explained([said], true, without[None], kinds, choices=choices)
    kept = counting(questions)
    assert found.n == len(kept)
    if not kept:
        assert (found.share, found.chance, found.p) == (0, 0, 1)
        return
    shuffled = hits_of_every_shuffle(kept)
    hits = sum(a == b for a, b, _ in kept)
    assert found.share == pytest.approx(hits / len(kept))
    assert found.chance == pytest.approx(np.mean(shuffled) / len(kept))
    assert found.interval == wilson(found.share * len(kept), len(kept))
    deviation = np.std(shuffled)
    if deviation < 1e-6:
        assert found.p == 1
    else:
        z = (hits - 0.5 - np.mean(shuffled)) / deviation
        assert found.p == pytest.approx(normal_tail(z), abs=1e-6)


def normal_tail(z):
    """Return the share of the normal curve beyond z, by adding it up."""
    x = np.linspace(z, max(z, 0) + 12, 400_001)
    return float(np.trapezoid(np.exp(-(x**2) / 2), x) / np.sqrt(2 * np.pi))


def asked(n, *, seed=0, values=6):
    """Return answers, what a skipped step gives, kinds and choices of many questions."""
    random = np.random.default_rng(seed)
    answers = random.integers(0, values, n)
    without = np.where(random.random(n) < 0.6, random.integers(0, values, n), -1)
    return random, answers, without, random.integers(0, 3, n), np.full(n, values)


@pytest.mark.parametrize("runs", [1, 3])
def test_who_skips_a_step_is_found_out_and_nothing_else_is(runs):
    random, answers, without, kinds, choices = asked(3000)
    other = np.where(random.random(3000) < 0.6, random.integers(0, 6, 3000), -1)
    said = [np.where((random.random(3000) < 0.7) & (without >= 0), without, answers) for _ in range(runs)]
    found = count_explained(said, answers, np.stack([other, without]), kinds, choices=choices)
    assert best(found) == 1
    assert found[1].share == 1 and found[1].chance < 0.3
    assert not found[0].is_certain


def test_who_errs_by_chance_skips_nothing():
    false = 0
    for seed in range(40):
        random, answers, _, kinds, choices = asked(800, seed=seed)
        without = random.integers(-1, 6, (12, 800))
        noisy = np.where(random.random(800) < 0.5, (answers + random.integers(1, 6, 800)) % 6, answers)
        false += best(count_explained([noisy], answers, without, kinds, choices=choices)) is not None
    assert false <= 7  # of 40, where 2 are to be expected


def test_near_misses_are_no_skipped_step():
    """Answers one too high look like a set that a filter left too large, were right answers not told apart."""
    random, answers, _, kinds, choices = asked(3000, values=9)
    without = np.minimum(8, answers + random.integers(1, 3, 3000))
    close = np.where(random.random(3000) < 0.5, np.minimum(8, answers + 1), answers)
    assert best(count_explained([close], answers, without[None], kinds, choices=choices)) is None


def test_yes_or_no_questions_tell_nothing():
    _random, answers, _, kinds, _ = asked(500, values=2)
    [found] = count_explained([1 - answers], answers, (1 - answers)[None], kinds, choices=np.full(500, 2))
    assert (found.n, found.is_certain) == (0, False)


def test_several_runs_are_as_sure_as_the_least_sure_of_them():
    random, answers, without, kinds, choices = asked(2000)
    skips = np.where(without >= 0, without, answers)
    guesses = random.integers(0, 6, 2000)
    alone = [count_explained([run], answers, without[None], kinds, choices=choices)[0] for run in (skips, guesses)]
    [both] = count_explained([skips, guesses], answers, without[None], kinds, choices=choices)
    assert both.p == max(one.p for one in alone)
    hits = sum(one.n * one.share for one in alone)
    assert both.share == pytest.approx(hits / sum(one.n for one in alone))
    assert both.n == round(sum(one.n for one in alone) / 2)


@given(QUESTIONS)
def test_answers_in_common_are_what_counting_one_by_one_gives(questions):
    said, true, other, _, choices = columns(questions)
    [found] = alike([said], true, other[None], choices=choices)
    n = hits = 0
    chance = 0.0
    for a, b, c, _, count in questions:
        if b < 0 or count < 3 or a in (NONE, b):
            continue
        n += 1
        hits += a == c and c >= 0
        chance += 1 / (count - 1) if c >= 0 and c != b else 0
    assert found.n == n
    assert (found.share, found.chance) == pytest.approx((hits / n, chance / n) if n else (0, 0))


def test_who_copies_is_most_alike_to_whom_it_copies():
    random, answers, _, _, choices = asked(2000)
    others = random.integers(0, 6, (3, 2000))
    copied = np.where(random.random(2000) < 0.5, others[2], answers)
    copied[:9] = OUTSIDE
    assert best(alike([copied], answers, others, choices=choices)) == 2


def test_too_few_wrong_answers_are_not_tried():
    one = ExplainedErrorCount(TOO_FEW - 1, 1.0, 0.1, Interval(0.8, 1.0), 1e-9)
    assert not one.is_certain
    _random, answers, without, kinds, choices = asked(30)
    [found] = count_explained([without], answers, without[None], kinds, choices=choices)
    assert found.n < TOO_FEW and found.adjusted == 1
