"""The size of proofs: all proofs use the same share, and the run shows their sizes at the end."""

from fractions import Fraction

import pytest

from tests import proof


@pytest.fixture(autouse=True)
def _own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "SIZES", {})


@pytest.mark.parametrize(
    ("share", "full", "cases"), [("1/20", 1000, 50), ("1", 1000, 1000), ("1/20", 7, 1), ("1/20", 21, 2)]
)
def test_a_proof_tries_its_share_of_cases_and_at_least_one(
    monkeypatch: pytest.MonkeyPatch, share: str, full: int, cases: int
) -> None:
    monkeypatch.setattr(proof, "SHARE", Fraction(share))
    assert proof.size(full, name="x") == cases


def test_a_proof_may_set_a_smallest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "SHARE", Fraction(1, 20))
    assert proof.size(100, name="x", least=30) == 30


@pytest.mark.parametrize(("share", "cases"), [("1", 1000), ("1/20", 12), ("1/200", 5)])
def test_a_proof_may_set_a_largest_size_for_runs_that_are_not_full(
    monkeypatch: pytest.MonkeyPatch, share: str, cases: int
) -> None:
    monkeypatch.setattr(proof, "SHARE", Fraction(share))
    assert proof.size(1000, name="x", most=12) == cases


def test_sizes_are_stored_for_the_table_at_the_end(request: pytest.FixtureRequest) -> None:
    proof.size(40, name="programs against their twin")
    proof.size(40)
    assert set(proof.SIZES) == {"programs against their twin", request.node.nodeid}


def test_a_sample_runs_some_cases_in_the_gate_and_marks_the_rest() -> None:
    cases = proof.sample(["one", ("two", 2), "three", pytest.param("four", id="4"), "five"], gate=2)
    assert (cases[0], cases[2]) == ("one", "three")
    assert [case.values for case in (cases[1], cases[3], cases[4])] == [("two", 2), ("four",), ("five",)]
    assert all(pytest.mark.full.mark in [mark.mark for mark in case.marks] for case in (cases[1], cases[3], cases[4]))
    assert cases[3].id == "4"


def test_a_sample_as_large_as_the_cases_leaves_nothing_out() -> None:
    assert proof.sample(range(3), gate=3) == [0, 1, 2]
