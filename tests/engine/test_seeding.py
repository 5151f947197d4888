"""Random streams: different keys give different numbers, and all distributions are correct."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.seeding import Stage, Stream, stream
from tests.proof import size

SECRET = bytes(range(16))
KEY: dict[str, Any] = {"seed": 1, "split": "train", "index": 2, "stage": Stage.SCENE, "attempt": 0, "secret": b""}
OTHER: dict[str, list[Any]] = {
    "seed": [0, 2, 1 << 32, (1 << 64) - 1],
    "split": ["val", "Train", "train ", "", "étrain"],
    "index": [0, 1, 3, 1 << 32],
    "stage": [stage for stage in Stage if stage != Stage.SCENE],
    "attempt": [1, 2, 1 << 31],
    "secret": [SECRET, bytes(16)[:-1] + b"\1"],
}


def first_numbers(**changes: Any) -> tuple[float, ...]:
    """Return the first numbers of a stream whose key has these changes."""
    numbers = stream(**{**KEY, **changes})
    return tuple(numbers.random() for _ in range(4))


def test_a_key_always_gives_the_same_numbers():
    assert first_numbers() == first_numbers()


@pytest.mark.parametrize(("part", "value"), [(part, value) for part in OTHER for value in OTHER[part]])
def test_a_different_key_gives_different_numbers(part: str, value: Any):
    assert not set(first_numbers()) & set(first_numbers(**{part: value}))


def test_no_two_of_many_similar_keys_share_their_numbers():
    """The keys differ only slightly in all parts. If the parts were concatenated, some keys would be equal."""
    keys = itertools.product((0, 1, 256, 1 << 32), ("a", "b"), (0, 1, 256), (1, 3), (0, 1, 256), (b"", SECRET))
    drawn = [
        first_numbers(seed=a, split=b, index=c, stage=Stage(d), attempt=e, secret=f)[0] for a, b, c, d, e, f in keys
    ]
    assert len(set(drawn)) == len(drawn) == 288


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**64 - 1),
            st.text(max_size=5),
            st.integers(0, 2**40),
            st.sampled_from(list(Stage)),
            st.integers(0, 2**32 - 1),
        ),
        min_size=2,
        max_size=2,
        unique=True,
    )
)
def test_any_two_keys_give_different_numbers(keys: list[tuple[int, str, int, Stage, int]]):
    one, two = (
        first_numbers(seed=seed, split=split, index=index, stage=stage, attempt=attempt)
        for seed, split, index, stage, attempt in keys
    )
    assert one != two


def test_seed_0_is_valid():
    numbers = first_numbers(seed=0)
    assert len(set(numbers)) == 4
    assert all(0 < number < 1 for number in numbers)


def test_a_secret_of_zeros_differs_from_no_secret():
    assert first_numbers(secret=bytes(16)) != first_numbers(secret=b"")


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed: int):
    with pytest.raises(ValueError, match=str(seed)):
        stream(**{**KEY, "seed": seed})


@pytest.mark.parametrize("secret", [b"\1", bytes(15), bytes(17)])
def test_a_secret_of_another_length_is_refused(secret: bytes):
    with pytest.raises(ValueError, match=f"{len(secret)} bytes"):
        stream(**{**KEY, "secret": secret})


def test_numbers_equal_those_of_plain_pcg64():
    """Numbers depend only on the bits of NumPy's generator: 53 of each 64 bits, as its documentation says."""
    numbers = stream(**KEY)
    twin = stream(**KEY).generator.bit_generator
    assert [numbers.random() for _ in range(5)] == [(int(raw) >> 11) * 2.0**-53 for raw in twin.random_raw(5)]


class Fixed(Stream):
    """A stream that always gives the same number."""

    def __init__(self, number: float) -> None:
        super().__init__(np.random.Generator(np.random.PCG64(0)))
        self.random = lambda: number  # type: ignore[assignment]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 1000])
def test_the_smallest_and_largest_random_numbers_give_values_in_range(count: int):
    largest = 1.0 - 2.0**-53
    assert Fixed(0.0).below(count) == 0
    assert Fixed(largest).below(count) == count - 1
    assert Fixed(largest).choice(range(count)) == count - 1
    assert -3.0 <= Fixed(0.0).uniform(-3.0, 3.0) <= Fixed(largest).uniform(-3.0, 3.0) <= 3.0
    assert math.isfinite(Fixed(largest).normal())
    assert math.isfinite(Fixed(0.0).normal())


def normalised_chi_square(seen: Counter[Any], cells: int) -> float:
    """Return the chi-square value for equally likely cells, in standard deviations from its mean."""
    expected = sum(seen.values()) / cells
    chi = sum((seen[cell] - expected) ** 2 for cell in seen) / expected + expected * (cells - len(seen))
    return (chi - (cells - 1)) / math.sqrt(2 * (cells - 1))


@pytest.mark.parametrize("count", [2, 3, 7, 10])
def test_all_choices_are_equally_likely(count: int):
    numbers = stream(**KEY)
    seen = Counter(numbers.choice(range(count)) for _ in range(size(200_000)))
    assert normalised_chi_square(seen, count) < 5


def test_all_orders_are_equally_likely():
    numbers, seen = stream(**KEY), Counter[tuple[int, ...]]()
    for _ in range(size(100_000)):
        items = [0, 1, 2, 3]
        numbers.shuffle(items)
        seen[tuple(items)] += 1
    assert set(seen) == set(itertools.permutations(range(4)))
    assert normalised_chi_square(seen, 24) < 5


@given(st.lists(st.integers()))
def test_shuffling_keeps_all_items(items: list[int]):
    shuffled = list(items)
    stream(**KEY).shuffle(shuffled)
    assert sorted(shuffled) == sorted(items)


def test_normal_numbers_have_a_normal_distribution():
    numbers = stream(**KEY)
    drawn = sorted(numbers.normal() for _ in range(size(200_000)))
    count = len(drawn)
    assert abs(sum(drawn) / count) < 5 / math.sqrt(count)
    assert abs(sum(x * x for x in drawn) / count - 1) < 5 * math.sqrt(2 / count)
    gap = max(abs((at + 0.5) / count - 0.5 * math.erfc(-x / math.sqrt(2))) for at, x in enumerate(drawn))
    assert gap < 2.0 / math.sqrt(count)  # Kolmogorov-Smirnov test: a value above 1.95 has a probability of 0.001
