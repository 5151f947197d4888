"""Figures read the answers of a reference through one door, which checks access."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser

from generation.models import Dataset, Split
from generation.splits.references import reference_for, reference_for_site, split_to_learn
from generation.splits.withheld_answers import open_answers
from tests.generation import small
from webapp.models import User

ROOT = Path(__file__).parents[3]
DOOR = "generation/splits/references.py"
FIELDS = {"reference", "own_reference"}
# Functions that use the reference of a split without its answers. A figure that needs answers takes a `Reference`.
WITHOUT_ANSWERS = {
    # the field itself
    "generation/models/datasets.py": {"own_reference"},
    # its name
    "generation/exchange/exports.py": {"__init__"},
    "generation/reports/shortcuts.py": {"report_key"},
    "generation/verification/dataset.py": {"_prove_overlap", "_prove_plan", "verify"},
    "generation/views/datasets.py": {"_reference_name"},
    "webapp/api/datasets.py": {"split_json"},
    # the name in the rows of the report on shortcuts, which have an attribute that is called the same
    "generation/management/commands/shortcuts.py": {"_scored"},
    "generation/reports/shortcuts_page.py": {"to_json"},
    "generation/views/shortcuts.py": {"_as_csv"},
    # the split that a baseline is said to be fitted on
    "webapp/leaderboards/baselines.py": {"fitted_on"},
    # the words of its questions, which everybody sees who may see the split
    "generation/splits/train_overlap.py": {"_compared"},
    "webapp/leaderboards/findings/figure_reader.py": {"known_texts"},
    # whether it is a question set
    "webapp/leaderboards/findings/finding_run.py": {"score_baseline"},
}
# The door for work without a visitor: who may see the results is checked when they are shown.
WITHOUT_VISITOR = {
    "split_to_learn": {"webapp/leaderboards/baselines.py"},
    "reference_for_site": {"generation/reports/count_metrics.py", "webapp/leaderboards/findings/figure_reader.py"},
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("generation", "annotations", "webapp"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith("generation/engine/") and "/migrations/" not in name:
                yield name, ast.parse(path.read_text())


def functions_that_read(tree: ast.Module) -> set[str]:
    """Return the names of the functions that read the reference of a split, with the attribute of a row."""
    found = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and node.attr in FIELDS and isinstance(node.ctx, ast.Load):
                    found.add(function.name)
    return found


def test_no_other_function_reads_the_reference_of_a_split() -> None:
    found = {name: functions_that_read(tree) for name, tree in modules() if name != DOOR}
    assert {name: read for name, read in found.items() if read} == WITHOUT_ANSWERS


def test_only_work_without_a_visitor_enters_without_a_check() -> None:
    used = {name: set[str]() for name in WITHOUT_VISITOR}
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in used and path != DOOR:
                used[node.id].add(path)
    assert used == WITHOUT_VISITOR


@pytest.fixture
def val(db: None) -> Split:
    """Give an open split whose reference is withheld."""
    splits = {"train": {"scenes": 4, "withheld": True}, "val": {"scenes": 4}}
    made = small.made("hidden", with_images=False, splits=splits, owner=User.objects.create_user("olga"))
    return Split.objects.for_browse().get(dataset=made, name="val")


def again(split: Split) -> Split:
    return Split.objects.for_browse().get(pk=split.pk)


def test_only_visitors_who_may_see_its_answers_get_a_reference(val: Split) -> None:
    stranger, olga = User.objects.create_user("mira"), User.objects.get(username="olga")
    whole = reference_for_site(val)
    assert whole is not None and whole.index_digest == val.dataset.splits.get(name="train").index_digest
    assert reference_for(AnonymousUser(), val) is reference_for(stranger, val) is None
    assert reference_for(olga, val) == reference_for(User.objects.create_superuser("root"), val) == whole
    assert open_answers(val.dataset.splits.get(name="train"))
    assert reference_for(AnonymousUser(), again(val)) == whole


def test_a_question_set_of_a_withheld_split_gives_no_reference(val: Split) -> None:
    train = val.dataset.splits.get(name="train")
    part = Split(dataset=val.dataset, name="part", ordinal=9, kind="derived", parent=train, recipe="{}")
    part.state, part.fingerprint, part.index_digest = "complete", train.fingerprint, train.index_digest
    part.save()
    Split.objects.filter(pk=val.pk).update(reference=part)
    assert again(val).reference == part and not part.withheld
    assert reference_for(AnonymousUser(), again(val)) is None


def test_a_private_reference_in_another_dataset_is_for_its_owner(val: Split) -> None:
    train = val.dataset.splits.get(name="train")
    assert open_answers(train)
    other = small.made("public", with_images=False, splits={"val": {"scenes": 2}}, owner=None)
    Split.objects.filter(dataset=other).update(reference=train)
    Dataset.objects.filter(pk=other.pk).update(visibility="public")
    split = Split.objects.for_browse().get(dataset=other)
    assert reference_for(AnonymousUser(), split) is not None
    Dataset.objects.filter(slug="hidden").update(visibility="private")
    assert reference_for(AnonymousUser(), again(split)) is None
    assert reference_for(User.objects.get(username="olga"), again(split)) is not None


def test_an_incomplete_reference_gives_no_answers(val: Split) -> None:
    Split.objects.filter(pk=val.reference_id).update(state="making")
    assert split_to_learn(again(val)) is reference_for_site(again(val)) is None
