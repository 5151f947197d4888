"""A small finding for tests, and records of findings whose figures are made up."""

from datetime import UTC, datetime
from typing import Any

from generation.engine.learners.base import SizeName
from generation.engine.scoring.statements import StatementOutcome
from tests.generation import small
from webapp.leaderboards.findings import records
from webapp.leaderboards.findings.definitions import Definition, read_definition
from webapp.leaderboards.findings.records import FindingRecord, RecordedFigure, RecordedStatement

SPLITS = {"train": {"scenes": 12}, "val": {"scenes": 4}, "test": {"scenes": 20}}
SMALL: dict[str, Any] = {
    "title": "A small finding",
    "paper": "Doe 2020, Small findings",
    "about": "Words of questions are of little use.",
    "headline": {
        "says": "Words of questions are hardly better than guesses.",
        "shows": "accuracy on test",
        "bars": [
            {"label": "Bag of words", "mean_of": ["all/words/all"]},
            {"label": "Guesses", "mean_of": ["all/chance/all", "all/mode/all"]},
        ],
    },
    "tables": [
        {
            "name": "all",
            "title": "Accuracy",
            "source": "table 1",
            "rows": [
                {"name": "words", "label": "Bag of words", "of": "words"},
                {"name": "chance", "label": "Chance", "of": "baseline/chance"},
                {"name": "mode", "label": "Q-type mode", "of": "baseline/type"},
                {"name": "guesses", "label": "Random (train)", "of": "guesses/shapes/train"},
            ],
            "columns": [
                {"name": "all", "label": "All", "on": "shapes/test"},
                {"name": "part", "label": "The first 40", "on": "shapes/test-part"},
                {"name": "long", "label": "Long ones", "on": "shapes/test", "slice": "length=6.."},
                {"name": "balanced", "label": "Balanced", "on": "shapes/test", "metric": "balanced_accuracy"},
            ],
            "paper": {"words": [0.4, None, 0.3, None]},
        }
    ],
    "statements": [
        {"says": "Words beat guesses.", "plus": ["all/words/all"], "minus": ["all/guesses/all"], "at_least": 0},
        {"says": "Words are perfect.", "plus": ["all/words/all"], "at_least": 0.99},
        {"says": "Chance is chance.", "plus": ["all/chance/all"], "at_least": 0.05, "at_most": 0.6},
    ],
    "sizes": {
        "mini": {
            "about": "Twelve scenes.",
            "datasets": [
                {
                    "name": "shapes",
                    "spec": {**small.SPEC, "splits": SPLITS},
                    "images": False,
                    "sets": [{"name": "test-part", "parent": "test", "recipe": {"first": 40}}],
                }
            ],
            "trainings": [
                {
                    "name": "words",
                    "method": "bag-of-words",
                    "label": "Bag of words",
                    "train": "shapes/train",
                    "val": "shapes/val",
                    "tests": ["shapes/test"],
                    "seeds": [0, 1],
                }
            ],
        }
    },
}


def small_definition(**changes: Any) -> Definition:
    return read_definition({**SMALL, **changes})


def record_of(name: str, size: SizeName, definition: Definition) -> FindingRecord:
    """Return a record in which every figure is 0.5, and statements end in turn as held, not held and undecided."""
    figure = RecordedFigure(value=0.5, low=0.4, high=0.6, n=1000, runs=(0.5,))
    outcomes = list(StatementOutcome)
    statements = [
        RecordedStatement(
            says=one.says,
            plus=one.plus,
            minus=one.minus,
            divisor=one.divisor,
            at_least=one.at_least,
            at_most=one.at_most,
            value=0.5,
            low=0.4,
            high=0.6,
            outcome=outcomes[at % 3],
        )
        for at, one in enumerate(definition.statements_of(size))
    ]
    training = records.RecordedTraining(
        name="words", method="bag-of-words", label="Words", seed=0, seconds=12.5, parameters=1234, examples_seen=None
    )
    shapes = records.RecordedDataset(
        name="shapes", slug="shapes", content_hash="ab" * 32, splits={"train": (48, "cd" * 32), "test": (80, "ef" * 32)}
    )
    return FindingRecord(
        finding=name,
        size=size,
        definition=definition.digest(size),
        date=datetime(2030, 1, 2, 3, 4, tzinfo=UTC).isoformat(),
        command="python manage.py finding",
        seconds=754.0,
        machine=records.describe_machine(),
        versions=records.describe_versions(),
        datasets=(shapes,),
        trainings=(training,),
        figures={cell.key: figure for table in definition.tables_of(size) for cell in table.cells()},
        statements=tuple(statements),
    )
