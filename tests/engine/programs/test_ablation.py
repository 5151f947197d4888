"""Wrong answers are explained by a skipped step as often as twins find that try all permutations."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.programs.ablation import ExplainedErrorCount, alike, best, count_explained
from generation.engine.scoring.figures import TOO_FEW, Interval, wilson
from generation.engine.scoring.score import NONE, OUTSIDE

QUESTION = st.tuples(
    st.integers(-3, 3),  # answer of the method
    st.integers(-1, 3),  # true answer
    st.integers(-1, 3),  # answer without the step
    st.integers(0, 1),  # kind
    st.integers(2, 4),  # number of choices
)
QUESTIONS = st.lists(QUESTION, min_size=1, max_size=7)


def columns(questions):
    return [np.array(column, np.int64) for column in zip(*questions, strict=True)]


def usable_errors(questions):
    """Return the questions whose wrong answers count, as (answer, answer without the step, group)."""
    return [
        (said, without, (kind, true))
        for said, true, without, kind, choices in questions
        if true >= 0 and choices > 2 and said not in (NONE, true) and without >= 0 and without != true
    ]


def hits_of_every_shuffle(kept):
    """Return the number of matches for every way to permute the wrong answers of each group."""
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
def test_share_chance_and_p_equal_those_of_all_permutations(questions):
    said, true, without, kinds, choices = columns(questions)
    [found] = count_explained([said], true, without[None], kinds, choices=choices)
    kept = usable_errors(questions)
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
    """Return the share of the normal distribution above z, by numerical integration."""
    x = np.linspace(z, max(z, 0) + 12, 400_001)
    return float(np.trapezoid(np.exp(-(x**2) / 2), x) / np.sqrt(2 * np.pi))


def random_questions(n, *, seed=0, values=6):
    """Return the random generator, and the answers, answers without a step, kinds and choices of `n` questions."""
    random = np.random.default_rng(seed)
    answers = random.integers(0, values, n)
    without = np.where(random.random(n) < 0.6, random.integers(0, values, n), -1)
    return random, answers, without, random.integers(0, 3, n), np.full(n, values)


@pytest.mark.parametrize("runs", [1, 3])
def test_a_method_that_skips_a_step_is_detected_and_other_steps_are_not(runs):
    random, answers, without, kinds, choices = random_questions(3000)
    other = np.where(random.random(3000) < 0.6, random.integers(0, 6, 3000), -1)
    said = [np.where((random.random(3000) < 0.7) & (without >= 0), without, answers) for _ in range(runs)]
    found = count_explained(said, answers, np.stack([other, without]), kinds, choices=choices)
    assert best(found) == 1
    assert found[1].share == 1 and found[1].chance < 0.3
    assert not found[0].is_certain


def test_a_method_with_random_errors_skips_no_step():
    false = 0
    for seed in range(40):
        random, answers, _, kinds, choices = random_questions(800, seed=seed)
        without = random.integers(-1, 6, (12, 800))
        noisy = np.where(random.random(800) < 0.5, (answers + random.integers(1, 6, 800)) % 6, answers)
        false += best(count_explained([noisy], answers, without, kinds, choices=choices)) is not None
    assert false <= 7  # of 40 tests; 2 false detections are expected


def test_answers_that_are_one_too_high_are_not_explained_by_a_skipped_step():
    """Otherwise these answers would look like counts of a set from which a filter is missing."""
    random, answers, _, kinds, choices = random_questions(3000, values=9)
    without = np.minimum(8, answers + random.integers(1, 3, 3000))
    close = np.where(random.random(3000) < 0.5, np.minimum(8, answers + 1), answers)
    assert best(count_explained([close], answers, without[None], kinds, choices=choices)) is None


def test_yes_or_no_questions_do_not_count():
    _random, answers, _, kinds, _ = random_questions(500, values=2)
    [found] = count_explained([1 - answers], answers, (1 - answers)[None], kinds, choices=np.full(500, 2))
    assert (found.n, found.is_certain) == (0, False)


def test_the_p_value_of_several_runs_is_the_largest_of_the_single_runs():
    random, answers, without, kinds, choices = random_questions(2000)
    skips = np.where(without >= 0, without, answers)
    guesses = random.integers(0, 6, 2000)
    alone = [count_explained([run], answers, without[None], kinds, choices=choices)[0] for run in (skips, guesses)]
    [both] = count_explained([skips, guesses], answers, without[None], kinds, choices=choices)
    assert both.p == max(one.p for one in alone)
    hits = sum(one.n * one.share for one in alone)
    assert both.share == pytest.approx(hits / sum(one.n for one in alone))
    assert both.n == round(sum(one.n for one in alone) / 2)


@given(QUESTIONS)
def test_common_answers_equal_those_counted_one_by_one(questions):
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


def test_a_method_that_copies_is_most_similar_to_its_source():
    random, answers, _, _, choices = random_questions(2000)
    others = random.integers(0, 6, (3, 2000))
    copied = np.where(random.random(2000) < 0.5, others[2], answers)
    copied[:9] = OUTSIDE
    assert best(alike([copied], answers, others, choices=choices)) == 2


def test_too_few_wrong_answers_are_not_tested():
    one = ExplainedErrorCount(TOO_FEW - 1, 1.0, 0.1, Interval(0.8, 1.0), 1e-9)
    assert not one.is_certain
    _random, answers, without, kinds, choices = random_questions(30)
    [found] = count_explained([without], answers, without[None], kinds, choices=choices)
    assert found.n < TOO_FEW and found.adjusted == 1
