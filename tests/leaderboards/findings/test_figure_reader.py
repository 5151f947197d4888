"""Figures of the questions themselves, which need no answers of a method."""

import pytest

from generation.models import Question
from tests.leaderboards.findings.made_findings import SMALL, small_definition
from webapp.leaderboards.findings.definitions import BadFinding, TableColumn
from webapp.leaderboards.findings.figure_reader import FigureReader
from webapp.leaderboards.findings.finding_run import FindingRun
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_figures_of_the_questions_themselves_are_counted_by_a_slow_twin(owner: User) -> None:
    columns = [
        {"name": "short", "label": "Short", "on": "shapes/test", "words": [1, 12], "metric": "share"},
        {"name": "long", "label": "Long", "on": "shapes/test", "words": [13, 99], "metric": "share"},
        {"name": "exist", "label": "Existence", "on": "shapes/test", "slice": "type=exist", "metric": "share"},
        {"name": "unique", "label": "Unique", "on": "shapes/train", "metric": "unique"},
        {"name": "known", "label": "Known", "on": "shapes/test", "metric": "known"},
        {"name": "part", "label": "Known in a part", "on": "shapes/test-part", "metric": "known"},
        {"name": "again", "label": "Unique, existence", "on": "shapes/test", "slice": "type=exist", "metric": "unique"},
    ]
    table = {
        "name": "data",
        "title": "Questions",
        "source": "table 2",
        "rows": [{"name": "all", "label": "Questions", "of": "questions"}],
        "columns": columns,
    }
    definition = small_definition(tables=[*SMALL["tables"], table])
    run = FindingRun("small", "mini", owner=owner, definition=definition)
    run.perform(run.steps[0])
    train, test = (list(Question.objects.filter(split=run.split_of(f"shapes/{name}"))) for name in ("train", "test"))
    test[1].text = test[3].text = train[5].text  # otherwise, no text occurs twice
    Question.objects.bulk_update([test[1], test[3]], ["text"])
    train[7].text = train[8].text
    train[7].save()
    learned = [one.text for one in train]
    existence = [one for one in test if one.kind == "exist"]
    expected = {
        "short": sum(len(one.text.split()) <= 12 for one in test) / len(test),
        "long": sum(len(one.text.split()) > 12 for one in test) / len(test),
        "exist": len(existence) / len(test),
        "unique": len(set(learned)) / len(learned),
        "known": len({one.text for one in test if one.text in learned}) / len(test),
        "part": len({one.text for one in test[:40] if one.text in learned}) / 40,
        "again": len({one.text for one in existence}) / len(existence),
    }
    assert 0 < expected["known"] < 1 and expected["unique"] < 1 and 0 < expected["short"] < 1
    for cell in definition.tables[1].cells():
        figure = FigureReader(run.split_of(cell.on)).of_questions(cell.column)
        assert figure.value == pytest.approx(expected[cell.column.name]), cell.key


def test_questions_without_a_split_to_learn_from_cannot_be_known(owner: User) -> None:
    run = FindingRun("small", "mini", owner=owner, definition=small_definition())
    run.perform(run.steps[0])
    reader = FigureReader(run.split_of("shapes/train"))
    with pytest.raises(BadFinding, match="a split to learn from"):
        reader.of_questions(TableColumn(name="known", label="Known", on="shapes/train", metric="known"))
