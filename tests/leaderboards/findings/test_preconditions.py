"""Statements about methods that learned nothing are not tested."""

from typing import Any

import pytest

from generation.engine.scoring.statements import StatementOutcome
from tests.leaderboards.findings.made_findings import record_of, small_definition
from webapp.leaderboards.findings.definitions import Definition
from webapp.leaderboards.findings.pages import judged_statements, summary_of
from webapp.leaderboards.findings.preconditions import unlearned_rows
from webapp.leaderboards.findings.records import FindingRecord, RecordedFigure


def definition_with(**statement: Any) -> Definition:
    return small_definition(statements=[{"says": "It is so.", "at_least": 0, **statement}])


def figures(**values: tuple[float, float | None]) -> dict[str, RecordedFigure]:
    """Return figures of the only table with an interval of 5 points on both sides, and their guesses."""
    return {
        f"all/{name.replace('_', '/')}": RecordedFigure(
            value=value, low=value - 0.05, high=value + 0.05, n=100, runs=(value,), guess=guess
        )
        for name, (value, guess) in values.items()
    }


@pytest.mark.parametrize(
    ("statement", "known", "unlearned"),
    [
        ({"plus": ["all/words/all"]}, {"words_all": (0.60, 0.5)}, []),
        ({"plus": ["all/words/all"]}, {"words_all": (0.54, 0.5)}, ["Bag of words"]),  # its interval has 0.5
        ({"plus": ["all/words/all"]}, {"words_all": (0.40, 0.5)}, ["Bag of words"]),
        ({"plus": ["all/words/all"]}, {"words_all": (0.40, None)}, []),  # not known
        ({"plus": ["all/words/all"]}, {}, []),
        # a fall: it was better before
        (
            {"plus": ["all/words/all"], "minus": ["all/words/part"]},
            {"words_all": (0.6, 0.5), "words_part": (0.2, 0.5)},
            [],
        ),
        # equally good, that is, both at chance
        (
            {"plus": ["all/words/all"], "minus": ["all/words/part"]},
            {"words_all": (0.51, 0.5), "words_part": (0.51, 0.5)},
            ["Bag of words"],
        ),
        # a mean: one good part is not enough
        (
            {"plus": ["all/words/all", "all/words/part"], "divisor": 2},
            {"words_all": (0.6, 0.5), "words_part": (0.4, 0.5)},
            ["Bag of words"],
        ),
        # a failure that counts because the method learned something else
        (
            {"plus": ["all/words/part"], "learned": ["all/words/all"]},
            {"words_all": (0.6, 0.5), "words_part": (0.2, 0.5)},
            [],
        ),
        (
            {"plus": ["all/words/part"], "learned": ["all/words/all"]},
            {"words_all": (0.5, 0.5), "words_part": (0.6, 0.5)},
            ["Bag of words"],
        ),
        ({"plus": ["all/words/part"], "learned": []}, {"words_part": (0.2, 0.5)}, []),
        # baselines and guesses learn nothing
        ({"plus": ["all/mode/all"], "minus": ["all/guesses/all"]}, {"mode_all": (0.2, None)}, []),
    ],
)
def test_each_trained_method_must_be_better_than_guesses(
    statement: dict[str, Any], known: dict[str, tuple[float, float | None]], unlearned: list[str]
) -> None:
    definition = definition_with(**statement)
    assert unlearned_rows(definition.statements[0], definition, "mini", figures(**known)) == unlearned


def with_guess(record: FindingRecord, guess: float | None) -> FindingRecord:
    """Return a record whose figures are all 0.5, with these guesses."""
    made = {name: one.model_copy(update={"guess": guess}) for name, one in record.figures.items()}
    return record.model_copy(update={"figures": made})


@pytest.mark.parametrize(
    ("guess", "outcomes"),
    [
        (None, ["held", "not held", "undecided"]),
        (0.2, ["held", "not held", "undecided"]),
        (0.5, ["not tested", "not tested", "undecided"]),  # the last one is about a baseline
    ],
)
def test_an_outcome_is_not_tested_whatever_was_recorded(guess: float | None, outcomes: list[str]) -> None:
    definition = small_definition()
    record = with_guess(record_of("small", "mini", definition), guess)
    assert [one.outcome for one in judged_statements(definition, "mini", record)] == outcomes


def test_totals_count_what_is_not_tested_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    definition = small_definition()
    record = with_guess(record_of("small", "mini", definition), 0.5)
    monkeypatch.setattr("webapp.leaderboards.findings.records.load_latest", lambda *_: record)
    counts = [(number, outcome) for number, outcome, _ in summary_of("small", "mini", definition=definition).counts]
    assert counts == [(1, "undecided"), (2, StatementOutcome.NOT_TESTED.value)]
