"""Question sets with shifted counts, compared with a slow reading of the rows; families that a command makes."""

import json
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.seeding import Stage, stream
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Split
from generation.splits.count_shifts import CountShift
from generation.splits.split_recipes import BadRecipe, Chooser, ParityRule, command, in_words, read_recipe
from generation.storage.split_index import SplitIndex
from generation.verification.dataset import scope_of, verify
from tests.generation import fake_world
from tests.generation.complete_datasets import shared

NUMBERS = "type=sum&type=largest"
SPLITS = {"train": {"scenes": 60}, "val": {"scenes": 30}, "test": {"scenes": 40}}
Row = tuple[int, int, str, int]  # position, scene, type, answer


def make(slug: str, splits: dict[str, Any]) -> Dataset:
    """Return a complete dataset of rows of numbers."""
    spec = {**fake_world.PRESET, "splits": splits, "questions_per_scene": 6}
    secrets = {name: "0f" * 16 for name, split in splits.items() if split.get("withheld")}
    dataset = dataset_jobs.start(spec, slug=slug, images=False, secrets=secrets)
    dataset_jobs.work(dataset=dataset)
    return dataset


dataset_key = shared(lambda: make("rows", SPLITS), world=fake_world)


@pytest.fixture
def rows(dataset_key: int, db: None) -> Dataset:
    return Dataset.objects.get(pk=dataset_key)


@pytest.fixture(scope="module")
def train(dataset_key: int, django_db_blocker: Any) -> Any:
    """Give the chooser of a split, and its questions whose answers are numbers; both work without the database."""
    with django_db_blocker.unblock():
        split = Split.objects.for_browse().get(dataset=dataset_key, name="train")
        yield Chooser(split, SplitIndex.open(split)), numbers_of(split)


def numbers_of(split: Split) -> list[Row]:
    found = Question.objects.filter(split=split.source, kind__in=("sum", "largest")).order_by("position")
    return [(row.position, row.scene.position, row.kind, int(row.answer)) for row in found.select_related("scene")]


def slow_count(n: int, removed: str) -> int:
    """Return how many questions of a group are kept, computed with decimals as in the authors' program."""
    share = 1 - Decimal(removed) / 100
    kept = int(n * share)
    return min(10, n) if kept == 0 and share > 0 else kept


class SlowShift:
    """A slow reference that follows the rules row by row."""

    def __init__(self, rows: list[Row], *, seed: int, questions: int, scenes: int) -> None:
        self.rows, self.seed = rows, seed
        self.keys = {"question": self._keys(2, questions), "scene": self._keys(3, scenes)}

    def _keys(self, which: int, count: int) -> list[float]:
        draw = stream(seed=self.seed, split="train", index=which, stage=Stage.SAMPLE)
        return [draw.random() for _ in range(count)]

    def of_scenes(self, percent: int, *, are_held_out: bool) -> list[Row]:
        scenes = sorted({row[1] for row in self.rows}, key=lambda scene: (self.keys["scene"][scene], scene))
        held_out = set(scenes[: len(scenes) * percent // 100])
        return [row for row in self.rows if (row[1] in held_out) == are_held_out]

    def of_parity(self, rows: list[Row], kept: str, removed: str, *, by_type: bool) -> list[int]:
        found, groups = [], defaultdict(list)
        for position, _, kind, answer in rows:
            if (answer % 2 == 1) == (kept == "odd"):
                found.append(position)
            else:
                groups[answer, kind if by_type else ""].append(position)
        for group in groups.values():
            ordered = sorted(group, key=lambda position: (self.keys["question"][position], position))
            found += ordered[: slow_count(len(group), removed)]
        return sorted(found)


@given(
    kept=st.sampled_from(["odd", "even"]),
    removed=st.sampled_from(["0", "12.5", "50", "90", "99.9", "100"]),
    by_type=st.booleans(),
    scenes=st.sampled_from([None, (10, True), (10, False), (34, True), (34, False)]),
    seed=st.integers(0, 2**64 - 1),
)
def test_a_shift_takes_the_same_questions_as_a_slow_reference(
    train: Any, kept: str, removed: str, by_type: bool, scenes: tuple[int, bool] | None, seed: int
) -> None:
    chooser, rows = train
    slow = SlowShift(rows, seed=seed, questions=chooser.index.n, scenes=chooser.parent.scenes)
    rule = {"kept": kept, "removed": float(removed), "grouped_by": "type" if by_type else ""}
    data = {"parent": "train", "filter": NUMBERS, "seed": seed, "parity": rule}
    left = rows
    if scenes is not None:
        percent, are_held_out = scenes
        data["held_out" if are_held_out else "without_held_out"] = percent
        left = slow.of_scenes(percent, are_held_out=are_held_out)
    assert chooser.choose(read_recipe(data)).tolist() == slow.of_parity(left, kept, removed, by_type=by_type)


@given(st.integers(0, 100_000), st.decimals(0, 100, places=2))
def test_groups_keep_the_share_of_their_questions_that_a_slow_reference_keeps(n: int, removed: Decimal) -> None:
    assert ParityRule(kept="odd", removed=float(removed)).kept_of(n) == slow_count(n, str(removed))


@pytest.mark.parametrize(
    ("n", "removed", "expected"),
    [(30, 90, 3), (39, 90, 3), (9, 90, 9), (10, 90, 1), (8, 99, 8), (100, 99, 1), (99, 99, 10), (7, 0, 7), (7, 100, 0)],
)
def test_counts_of_groups(n: int, removed: float, expected: int) -> None:
    assert ParityRule(kept="odd", removed=removed).kept_of(n) == expected


PUBLISHED = {
    # Sizes of groups with the totals of tables 3 and 4 of the paper at 0 %, and their counts at 50 and 90 %.
    # The sizes of single groups are not published; these are invented. Train and val have a group for each answer; test
    # has one for each answer and type.
    "train, even": ([62873, 36685, 12605, 13874, 6908, 1853, 1302, 1002], 137_102, 68_549, 13_707),
    "train, odd": ([58407, 13304, 7542, 5338, 1654, 538, 341, 165], 87_289, 43_643, 8_725),
    "val, even": ([5773, 4969, 2442, 1097, 394, 380, 169, 68], 15_292, 7_644, 1_525),
    "val, odd": ([6451, 2324, 561, 187, 79, 24, 7, 2], 9_635, 4_815, 969),
    "test, odd": (
        [10544, 1770, 1086, 319, 84, 41, 5, 3, 6939, 1352, 615, 180, 135, 52, 9, 4], 23_138, 11_565, 2_328,
    ),
    "test, even": (
        [7308, 1933, 655, 175, 41, 21, 5, 2, 3043, 1711, 313, 139, 66, 21, 13, 5], 15_451, 7_719, 1_551,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_groups_with_the_published_totals_can_keep_the_published_counts(name: str) -> None:
    groups, *counts = PUBLISHED[name]
    for removed, count in zip((0, 50, 90), counts, strict=True):
        assert sum(ParityRule(kept="odd", removed=removed).kept_of(n) for n in groups) == count
    assert sum(ParityRule(kept="odd", removed=100).kept_of(n) for n in groups) == 0


# Families ---------------------------------------------------------------------------------------------------


def answers_of(split: Split) -> Counter[int]:
    """Return how many questions of a set have each answer."""
    by_position = {row[0]: row[3] for row in numbers_of(split)}
    return Counter(by_position[at] for at in SplitIndex.open(split).positions.tolist())


def shift(dataset: Dataset, parities: str = "odd-even:90", *options: str) -> dict[str, Split]:
    """Run the command, and return the question sets that it makes, by name."""
    call_command("derive", dataset.slug, "--mcd", parities, "--filter", NUMBERS, *options)
    return {split.name: split for split in Split.objects.for_browse().filter(dataset=dataset, kind="derived")}


def test_train_and_val_keep_one_parity_and_test_the_other(rows: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    made = shift(rows)
    assert list(made) == ["train-odd-even-90", "val-odd-even-90", "test-odd-even-90"]
    for split, kept in zip(made.values(), (1, 1, 0), strict=True):
        before = Counter(row[3] for row in numbers_of(split))
        for answer, count in before.items():
            wanted = count if answer % 2 == kept else slow_count(count, "90")
            assert answers_of(split)[answer] == wanted
    said = capsys.readouterr()
    assert said.out == "".join(f"{split.fingerprint}\n" for split in made.values())
    train = made["train-odd-even-90"]
    kept = sum(count for answer, count in answers_of(train).items() if answer % 2 == 0)
    of = sum(row[3] % 2 == 0 for row in numbers_of(train))
    assert f"{kept} of {of} questions with even answers are kept ({100 * kept / of:.0f} %)" in said.err
    assert kept > of / 10  # small groups keep ten questions
    assert "where type is sum or largest, with all odd answers and 10 % of each other answer (10 where" in said.err


def test_even_odd_keeps_even_answers_and_a_facet_makes_smaller_groups(rows: Dataset) -> None:
    made = shift(rows, "even-odd:50", "--parity-by", "type", "--name", "half", "--seed", "4")
    assert list(made) == ["train-half", "val-half", "test-half"]
    before = Counter((row[2], row[3]) for row in numbers_of(made["train-half"]))
    odd = sum(slow_count(count, "50") for (_, answer), count in before.items() if answer % 2)
    assert sum(count for answer, count in answers_of(made["train-half"]).items() if answer % 2) == odd
    assert {answer % 2 for answer in answers_of(shift(rows, "even-odd:100")["train-even-odd-100"])} == {0}


def test_scenes_of_train_become_a_val_set_if_there_is_no_val_split(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(dataset_jobs.engine.REGISTRY, fake_world.NAME, fake_world.WHERE)
    made = shift(make("two", {"train": {"scenes": 60}, "test": {"scenes": 20}}), "odd-even:0")
    assert list(made) == ["train-odd-even-0", "val-odd-even-0", "test-odd-even-0"]
    train, val = (made[f"{name}-odd-even-0"] for name in ("train", "val"))
    assert (train.parent, val.parent) == (train.source, train.source)
    scenes = {split.name: {row[1] for row in _rows_of(split)} for split in (train, val)}
    every = {row[1] for row in numbers_of(train)}
    assert len(scenes[val.name]) == len(every) // 10
    assert scenes[val.name] | scenes[train.name] == every and not scenes[val.name] & scenes[train.name]
    dataset = Dataset.objects.get(slug="two")
    assert verify(dataset, scope_of(dataset)).findings == []


def _rows_of(split: Split) -> list[Row]:
    chosen = set(SplitIndex.open(split).positions.tolist())
    return [row for row in numbers_of(split) if row[0] in chosen]


def test_the_command_of_a_set_makes_it_again(rows: Dataset) -> None:
    made = shift(rows, "odd-even:33.5", "--parity-by", "type", "--seed", "3")
    for name, split in made.items():
        recipe = read_recipe(split.recipe)
        assert json.loads(split.recipe)["parity"]["removed"] == 33.5
        again = command(recipe, dataset="rows", name="again")
        call_command(*again.replace("'", "").split()[2:])
        assert Split.objects.get(name="again").fingerprint == split.fingerprint, name
        Split.objects.filter(name="again").delete()


def test_held_out_scenes_are_described(train: Any) -> None:
    chooser, _ = train
    for name, words in (("held_out", "are among 10 %"), ("without_held_out", "are not among 10 %")):
        recipe = read_recipe({"parent": "train", name: 10})
        assert f"about scenes that {words} held out" in in_words(recipe, n=5, parent=chooser.parent, index=None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rows", "--mcd", "odd-even:90"], "parity: Expected answers that are numbers, got 'yes', 'no', .*type=count"),
        (["rows", "--mcd", "odd:90"], "expected odd-even:P or even-odd:P, such as odd-even:90, got 'odd:90'"),
        (["rows", "--mcd", "odd-even:190"], "expected a percentage, 0 to 100, got '190'"),
        (["rows", "--mcd", "odd-even:9,x"], "expected a percentage, 0 to 100, got 'x'"),
        (["rows", "--mcd", "odd-even:9,9.0"], "expected each percentage once, got 'odd-even:9,9.0'"),
        (["rows", "--mcd", "odd-even:9,90", "--name", "a"], "Expected --name with a single percentage, got several"),
        (["rows", "--mcd", "odd-even:9", "--first", "3"], "Expected --mcd without --first"),
        (
            ["rows", "--mcd", "odd-even:9", "--filter", NUMBERS, "--parity-by", "no"],
            "grouped_by: Expected one of",
        ),
        (["rows/train", "--mcd", "odd-even:9"], "Expected a dataset"),
        (["rows/train", "--parity", "odd:90", "--name", "a"], "parity: Expected answers that are numbers"),
        (["rows/train", "--parity", "prime:90", "--name", "a"], "expected odd:P or even:P"),
        (["rows/train", "--held-out", "9", "--without-held-out", "9", "--name", "a"], "Expected one of held_out and"),
        (["rows/train", "--first", "3"], "Expected --name with the name of the new split"),
    ],
)
def test_bad_shifts_are_refused_in_one_line_and_store_nothing(
    rows: Dataset, arguments: list[str], message: str
) -> None:
    with pytest.raises(CommandError, match=message) as refused:
        call_command("derive", *arguments)
    assert "\n" not in str(refused.value)
    assert not Split.objects.filter(kind="derived").exists()


def test_several_percentages_make_several_shifts_or_none(rows: Dataset) -> None:
    made = shift(rows, "odd-even:0,100")
    parts = ("train", "val", "test")
    assert list(made) == [f"{part}-odd-even-{percent}" for percent in (0, 100) for part in parts]
    for part, parity in zip(parts, (1, 1, 0), strict=True):
        whole, half = (answers_of(made[f"{part}-odd-even-{percent}"]) for percent in (0, 100))
        assert half == Counter({answer: n for answer, n in whole.items() if answer % 2 == parity})
    with pytest.raises(CommandError, match="Expected a new name, got 'train-odd-even-0'"):
        shift(rows, "odd-even:50,0")
    assert len(shift(rows, "even-odd:50")) == 9


def test_no_set_of_a_family_is_made_if_one_name_is_taken(rows: Dataset) -> None:
    call_command("derive", "rows/train", "--name", "test-odd-even-90", "--first", "3")
    with pytest.raises(CommandError, match="Expected a new name, got 'test-odd-even-90'"):
        call_command("derive", "rows", "--mcd", "odd-even:90", "--filter", NUMBERS)
    assert [split.name for split in Split.objects.filter(kind="derived")] == ["test-odd-even-90"]


def test_withheld_answers_and_missing_splits_are_refused(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(dataset_jobs.engine.REGISTRY, fake_world.NAME, fake_world.WHERE)
    make("hidden", {"train": {"scenes": 30}, "test": {"scenes": 5, "withheld": True}})
    with pytest.raises(CommandError, match=r"Answers of hidden/test are withheld, and their parity would reveal"):
        call_command("derive", "hidden", "--mcd", "odd-even:50", "--filter", NUMBERS)
    make("alone", {"train": {"scenes": 5}})
    with pytest.raises(CommandError, match=r"Expected splits train and test, got train"):
        call_command("derive", "alone", "--mcd", "odd-even:50", "--filter", NUMBERS)
    assert not Split.objects.filter(kind="derived").exists()


def test_the_name_of_a_shift_has_its_parities_and_percent() -> None:
    assert [CountShift("odd", 90).name, CountShift("even", 12.5).name] == ["odd-even-90", "even-odd-12_5"]


def test_a_rule_needs_a_parity() -> None:
    with pytest.raises(BadRecipe, match=r"parity\.kept: Expected"):
        read_recipe({"parent": "train", "parity": {"kept": "prime", "removed": 90}})
