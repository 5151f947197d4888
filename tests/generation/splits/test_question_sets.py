"""Derived splits: their questions, compared with a slow reading of the parent; making and deleting them."""

import hashlib
import json
import math
import shlex
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from hypothesis import example, given
from hypothesis import strategies as st

from generation import extension_points
from generation.engine.content_hash import canonical
from generation.engine.seeding import Stage, stream
from generation.making import dataset_jobs
from generation.making.progress import progress_of
from generation.models import Dataset, Job, Question, Split
from generation.queue import leases
from generation.queue.runner import Runner
from generation.splits import question_sets, sealing, split_recipes
from generation.splits.split_recipes import BadRecipe, Recipe, by_group, lowest, read_recipe
from generation.splits.withheld_answers import open_answers
from generation.storage import files, items
from generation.storage.split_index import FOLDER, MANIFEST, SplitIndex
from tests.generation import fake_world
from tests.generation.complete_datasets import finish, registered, shared

Begin = Callable[..., Dataset]
SPEC: dict[str, Any] = {"splits": {"train": {"scenes": 40}, "test": {"scenes": 5, "withheld": True}}}


# The slow reference ---------------------------------------------------------------------------------------------------


class SlowRecipe:
    """A slow reference that follows recipes row by row."""

    def __init__(self, split: Split) -> None:
        world, spec = split.dataset.get_world(), split.read_spec()
        self.name, self.rows = split.name, []
        self.facets = {facet.name: facet for facet in world.facets(spec)}
        for stored in items.load_items(split, 0, split.scenes):
            codes = world.facet_codes(spec, stored.item)
            for number, row in enumerate(stored.questions):
                self.rows.append((row.text.lower(), {name: column[number] for name, column in codes.items()}))

    def select(self, filters: dict[str, set[int]], word: str) -> list[int]:
        return [
            at
            for at, (text, codes) in enumerate(self.rows)
            if word in text and all(codes[name] in wanted for name, wanted in filters.items())
        ]

    def draw(self, candidates: list[int], *, count: int, seed: int, which: int) -> set[int]:
        draw = stream(seed=seed, split=self.name, index=which, stage=Stage.SAMPLE)
        keys = [draw.random() for _ in self.rows]
        return set(sorted(candidates, key=lambda at: (keys[at], at))[:count])

    def follow(self, recipe: Recipe, filters: dict[str, set[int]], word: str) -> list[int]:
        left = self.select(filters, word)
        for name, shares in recipe.shares.items():
            gone: set[int] = set()
            for value, percent in shares.items():
                code = self.facets[name].values.index(value)
                theirs = [at for at in left if self.rows[at][1][name] == code]
                kept = self.draw(theirs, count=half_up(len(theirs) * percent / 100), seed=recipe.seed, which=0)
                gone |= set(theirs) - kept
            left = [at for at in left if at not in gone]
        if recipe.first is not None:
            return left[: recipe.first]
        count = recipe.sample if recipe.share is None else half_up(len(left) * recipe.share / 100)
        return left if count is None else sorted(self.draw(left, count=count, seed=recipe.seed, which=1))


def half_up(number: float) -> int:
    return math.floor(round(number, 6) + 0.5)


@pytest.fixture(scope="module")
def chooser_slow_and_index(django_db_setup: None, django_db_blocker: Any) -> Any:
    """Give a split's chooser, its slow reference and its index; they work without the database."""
    with django_db_blocker.unblock(), registered(fake_world):
        spec = {**fake_world.PRESET, "splits": {"train": {"scenes": 60}}, "questions_per_scene": 5}
        dataset = dataset_jobs.start(spec, slug="for-recipes", images=False)
        dataset_jobs.work(dataset=dataset)
        split = dataset.splits.get()
        opened = SplitIndex.open(split)
        yield split_recipes.Chooser(split, opened), SlowRecipe(split), opened
        dataset_jobs.delete(dataset)
        dataset_jobs.work(dataset=dataset)


@given(
    types=st.sets(st.sampled_from(fake_world.WORDS)),
    word=st.sampled_from(["", "largest", "any"]),
    thinned=st.dictionaries(st.sampled_from(fake_world.WORDS), st.sampled_from([0, 10, 33.3, 50, 100]), max_size=3),
    way=st.sampled_from(["first", "sample", "share", ""]),
    amount=st.integers(1, 100),
    seed=st.integers(0, 2**64 - 1),
)
def test_a_recipe_takes_the_same_questions_as_a_slow_reference(
    chooser_slow_and_index: Any, types: set[str], word: str, thinned: dict[str, float], way: str, amount: int, seed: int
) -> None:
    chooser, twin, _ = chooser_slow_and_index
    text = "&".join([*(f"type={one}" for one in sorted(types)), *([f"q={word}"] if word else [])])
    data = {"parent": "train", "filter": text or "q=", "seed": seed} | ({way: amount} if way else {})
    recipe = read_recipe(data | ({"shares": {"type": thinned}} if thinned else {}))
    filters = {"type": {fake_world.WORDS.index(one) for one in types}} if types else {}
    wanted = twin.follow(recipe, filters, word)
    if way in ("first", "sample") and len(twin.follow(recipe.model_copy(update={way: None}), filters, word)) < amount:
        wanted = []
    if not wanted:
        with pytest.raises(BadRecipe, match=r"Expected at (least one question|most)"):
            chooser.choose(recipe)
    else:
        assert chooser.choose(recipe).tolist() == wanted


@given(chosen=st.sets(st.integers(0, 299), min_size=1))
def test_words_of_chosen_questions_equal_those_of_the_parents_index(
    chooser_slow_and_index: Any, chosen: set[int]
) -> None:
    _, _, whole = chooser_slow_and_index
    positions = np.array(sorted(chosen))
    words = whole.words_of(positions)
    assert words.vocabulary == [w for w in whole.vocabulary if set(whole.containing(w).tolist()) & chosen]
    for number, word in enumerate(words.vocabulary):
        found = words.postings[words.starts[number] : words.starts[number + 1]]
        assert positions[found].tolist() == sorted(set(whole.containing(word).tolist()) & chosen)


# Made -------------------------------------------------------------------------------------------------------


def derive(dataset: Dataset, name: str = "few", parent: str = "train", **recipe: Any) -> Split:
    """Derive a split and return it."""
    split = Split.objects.for_browse().get(dataset=dataset, name=parent)
    return dataset_jobs.derive(split, name=name, recipe=read_recipe({"parent": parent, **recipe}))


def make_rows() -> Dataset:
    spec = {**fake_world.PRESET, **SPEC}
    return finish(dataset_jobs.start(spec, slug="rows", images=False, secrets={"test": "0f" * 16}))


dataset_key = shared(make_rows, world=fake_world)


@pytest.fixture
def rows_of_numbers(dataset_key: int, db: None) -> Dataset:
    """Give a complete dataset without pictures."""
    return Dataset.objects.get(pk=dataset_key)


def test_a_small_derived_split_is_complete_at_once_and_described(rows_of_numbers: Dataset) -> None:
    few = derive(rows_of_numbers, filter="type=sum", sample=7, seed=3)
    assert (few.state, few.kind, few.parent.name) == ("complete", "derived", "train")
    assert (few.questions, few.ordinal, few.withheld, few.reference) == (7, 2, False, None)
    assert question_sets.describe_recipe(few) == "7 of 120 questions of train where type is sum, sampled with seed 3"
    assert not few.scene_set.exists()
    assert not few.question_set.exists()
    assert not few.chunks.exists()


def test_questions_scenes_and_facets_of_a_derived_split_equal_those_of_the_parent(rows_of_numbers: Dataset) -> None:
    few = derive(rows_of_numbers, share=40, seed=5)
    own = [Question.objects.get(split=few.parent, position=at) for at in SplitIndex.open(few).positions.tolist()]
    assert [row.text for row in items.questions_at(few, list(range(few.questions)))] == [row.text for row in own]
    assert [row.position for row in items.questions_at(few, [5, 2])] == [5, 2]
    assert few.scenes == len({row.scene_id for row in own})
    stored = list(items.load_items(few, 0, few.scenes))
    assert [one.pk for some in stored for one in some.questions] == [row.pk for row in own]
    assert [one.position for some in stored for one in some.questions] == list(range(few.questions))
    parts = [items.load_items(few, first, 3) for first in range(0, few.scenes, 3)]
    pieces = [one.pk for part in parts for some in part for one in some.questions]
    assert pieces == [row.pk for row in own]
    mine, parents = SplitIndex.open(few), SplitIndex.open(few.parent)
    for number, row in enumerate(own):
        assert mine.scenes[number] == row.scene.position
        assert mine.source_id(number) == (row.source_id or None)
        for name, facet in mine.facets.items():
            assert facet.codes[number] == parents.facets[name].codes[row.position]
        assert mine.answers[number] == parents.answers[row.position]
    assert mine.counts({})["type"].sum() == few.questions
    assert mine.select({}, ["odd"]).tolist() == [n for n, row in enumerate(own) if "odd" in row.text]


def test_the_content_hash_of_a_derived_split_is_of_its_own_questions_in_order(rows_of_numbers: Dataset) -> None:
    before = rows_of_numbers.fingerprint
    few = derive(rows_of_numbers, sample=11)
    lines, scene = [], None
    for at in SplitIndex.open(few).positions.tolist():
        row = Question.objects.select_related("scene").get(split=few.parent, position=at)
        if row.scene != scene:
            scene = row.scene
            lines.append(canonical(scene.scene_json))
        lines.append(canonical(items.engine_question(row).to_json()))
    assert few.fingerprint == hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    assert sealing.fingerprint_of(few) == few.fingerprint
    rows_of_numbers.refresh_from_db()
    assert rows_of_numbers.fingerprint == before


def test_equal_recipes_give_the_same_hash_and_different_indexes(rows_of_numbers: Dataset) -> None:
    one, two = (derive(rows_of_numbers, name=name, share=50, seed=9) for name in ("one", "two"))
    other = derive(rows_of_numbers, name="other", share=50, seed=8)
    assert one.fingerprint == two.fingerprint != other.fingerprint
    assert one.index_digest != two.index_digest


def test_a_smaller_sample_with_the_same_seed_is_part_of_a_larger_one(rows_of_numbers: Dataset) -> None:
    small, large = (derive(rows_of_numbers, name=f"of{n}", sample=n, seed=1) for n in (10, 60))
    assert set(SplitIndex.open(small).positions.tolist()) < set(SplitIndex.open(large).positions.tolist())


def test_a_share_of_some_values_keeps_all_questions_with_other_values(rows_of_numbers: Dataset) -> None:
    train = SplitIndex.open(rows_of_numbers.splits.get(name="train")).counts({})["type"].tolist()
    few = derive(rows_of_numbers, shares={"type": {"sum": 10, "odd": 0}}, seed=4)
    kept = SplitIndex.open(few).counts({})["type"].tolist()
    assert kept == [half_up(train[0] / 10), train[1], 0, train[3]]
    said = "with only 10 % of those whose type is sum and none of those whose type is odd, sampled with seed 4"
    assert question_sets.describe_recipe(few) == f"{sum(kept)} of 120 questions of train, {said}"


def test_a_large_derived_split_waits_for_a_background_process(
    rows_of_numbers: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_sets, "AT_ONCE", 5)
    woken: list[str] = []
    monkeypatch.setattr(Runner, "wake", lambda self: woken.append(self.name))
    few = derive(rows_of_numbers, sample=6)
    assert (few.state, woken, Job.objects.backlog().oldest is None) == ("waiting", ["datasets"], False)
    assert dataset_jobs.work() == 1
    few.refresh_from_db()
    assert few.is_complete
    rows_of_numbers.refresh_from_db()
    assert rows_of_numbers.state == Dataset.State.COMPLETE


def test_a_failed_derived_split_has_a_message_and_the_dataset_stays_complete(rows_of_numbers: Dataset) -> None:
    Question.objects.filter(split__name="train", position=3).delete()
    few = derive(rows_of_numbers, first=10)
    assert few.state == Split.State.FAILED
    assert few.jobs.get().message == "rows/few: Expected 10 questions, got 9."
    rows_of_numbers.refresh_from_db()
    assert rows_of_numbers.state == Dataset.State.COMPLETE
    dataset_jobs.settle()
    question_sets.remove(few)
    assert not Split.objects.filter(name="few").exists()


def test_totals_do_not_count_derived_splits(rows_of_numbers: Dataset) -> None:
    listed = Dataset.objects.for_list().get()
    derive(rows_of_numbers, share=50)
    again = Dataset.objects.for_list().get()
    assert (again.scenes, again.questions) == (listed.scenes, listed.questions)
    assert progress_of(rows_of_numbers).share == 1


# Withheld ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "recipe",
    [{"filter": "total=3"}, {"filter": "type=sum&has=nine"}, {"shares": {"total": {"3": 50}}}],
)
def test_filters_that_reveal_withheld_answers_are_refused(rows_of_numbers: Dataset, recipe: dict[str, Any]) -> None:
    with pytest.raises(BadRecipe, match=r"are withheld, and (a filter|shares) by (total|has) would reveal part"):
        derive(rows_of_numbers, parent="test", **recipe)
    assert not Split.objects.filter(kind="derived").exists()


def test_a_derived_split_is_withheld_until_its_parent_is_opened(rows_of_numbers: Dataset) -> None:
    few = derive(rows_of_numbers, parent="test", filter="type=sum&type=odd", sample=3)
    assert few.withheld
    assert not open_answers(derive(rows_of_numbers, name="own", first=1))
    assert open_answers(rows_of_numbers.splits.get(name="test"))
    few.refresh_from_db()
    assert not few.withheld
    assert few.opened is not None
    assert derive(rows_of_numbers, name="now", parent="test", filter="has=nine&has=zero&has=five").is_complete


# Refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({}, "Expected a filter, .* or without_held_out, got none"),
        ({"first": 3, "sample": 2}, "Expected one of first, sample and share, got first and sample"),
        ({"first": 0}, "first: Expected greater than or equal to 1, got 0"),
        ({"share": 101}, "share: Expected less than or equal to 100, got 101"),
        ({"sample": 121}, "sample: Expected at most 120 questions .there are no more., got 121"),
        ({"filter": "type=sum", "first": 120}, "first: Expected at most [0-9]+ questions"),
        ({"filter": "colour=red"}, "filter: Expected a filter .type, total, has, q. or a page, got 'colour'"),
        ({"filter": "type=red"}, "filter: Filter type: expected one of sum, largest, odd, empty, got 'red'"),
        ({"filter": "q=nowhere"}, "recipe: Expected at least one question, got none of 120"),
        ({"share": 0.1}, "recipe: Expected at least one question, got none of 120"),
        ({"shares": {"has": {"zero": 1}}}, "shares: Expected one of type, total, got 'has'"),
        ({"shares": {"type": {"red": 1}}}, "shares.type: Expected one of sum, largest, odd, empty, got 'red'"),
        ({"shares": {"type": {}}}, "shares: Expected values of type with their shares, got none"),
        ({"shares": {"type": {"sum": 1}, "total": {"1": 1}}}, "shares: Expected at most 1 entry"),
        ({"seed": -1, "sample": 1}, "seed: Expected greater than or equal to 0, got -1"),
        ({"number": 1}, "number: Expected a known key"),
    ],
)
def test_bad_recipes_are_refused(rows_of_numbers: Dataset, recipe: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRecipe, match=message):
        derive(rows_of_numbers, **recipe)
    assert not Split.objects.filter(kind="derived").exists()


@pytest.mark.parametrize("name", ["", "1st", "with blank", "q", "edit", "x" * 41, "a/b", "train"])
def test_bad_names_are_refused(rows_of_numbers: Dataset, name: str) -> None:
    with pytest.raises(BadRecipe, match="name: Expected"):
        derive(rows_of_numbers, name=name, first=1)


def test_nothing_is_derived_from_a_derived_or_unfinished_split(begin: Begin, rows_of_numbers: Dataset) -> None:
    derive(rows_of_numbers, first=10)
    with pytest.raises(BadRecipe, match=r"got rows/few. Make the question set from rows/train"):
        derive(rows_of_numbers, name="fewer", parent="few", first=5)
    with pytest.raises(
        BadRecipe, match="Expected a complete split of a complete dataset, got other/val, whose state is waiting"
    ):
        derive(begin("other"), parent="val", first=5)


def test_the_number_of_derived_splits_is_limited(rows_of_numbers: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_sets, "MOST", 1)
    derive(rows_of_numbers, first=10)
    with pytest.raises(BadRecipe, match="at most 1 question sets"):
        derive(rows_of_numbers, name="more", first=5)


def test_only_a_derived_split_has_a_parent(rows_of_numbers: Dataset) -> None:
    train, test = rows_of_numbers.splits.order_by("ordinal")
    for change in ({"kind": "derived"}, {"parent": train}, {"recipe": "{}"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Split.objects.filter(pk=test.pk).update(**change)


# Deleted ----------------------------------------------------------------------------------------------------


def is_stored(split: Split) -> bool:
    return default_storage.exists(f"{FOLDER}/{split.index_digest}/{MANIFEST}")


def test_deleting_a_derived_split_deletes_its_index_and_keeps_its_parent(rows_of_numbers: Dataset) -> None:
    few = derive(rows_of_numbers, first=10)
    assert is_stored(few)
    question_sets.remove(few)
    assert not is_stored(few)
    assert is_stored(few.parent)
    assert rows_of_numbers.splits.count() == 2
    assert Question.objects.filter(split__name="train").count() == 120


def test_deleting_a_dataset_deletes_its_derived_splits(begin: Begin) -> None:
    dataset = begin("gone", images=False, splits={"train": {"scenes": 4}})
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    few = derive(dataset, first=10)
    assert is_stored(few)
    dataset_jobs.delete(dataset)
    dataset_jobs.work(dataset=dataset)
    assert not Split.objects.filter(dataset=dataset.pk).exists()
    assert not is_stored(few)
    assert not is_stored(few.parent)


def test_a_derived_split_that_something_refers_to_is_not_deleted(
    rows_of_numbers: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, other = derive(rows_of_numbers, first=10), derive(rows_of_numbers, name="other", first=11)
    monkeypatch.setattr(extension_points, "_REFERRERS", {})
    monkeypatch.setattr(extension_points, "_SPLIT_REFERRERS", {})
    named = lambda split: ["study odd"] if split.name == "few" else []  # noqa: E731
    extension_points.register_referrer("study", lambda dataset: ["study odd"], of_split=named)
    with pytest.raises(
        extension_points.Referred, match=r"rows/few: Expected a split .* got one that study odd refers to"
    ):
        question_sets.remove(few)
    few.refresh_from_db()
    assert few.is_complete
    question_sets.remove(other)
    extension_points.register_referrer("study", lambda dataset: ["study odd"])
    with pytest.raises(extension_points.Referred, match="study odd"):
        question_sets.remove(few)


def test_a_derived_split_that_is_deleted_while_it_is_made_leaves_no_file(
    rows_of_numbers: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = question_sets.make
    digests: list[str] = []

    def make_then_remove(split: Split, lease: Any) -> sealing.SealedSplit:
        sealed = made(split, lease)
        question_sets.remove(Split.objects.get(pk=split.pk))
        digests.append(sealed.index_digest)
        files.put(f"{FOLDER}/{digests[0]}/late", b"")  # as if this file was stored after the deletion
        return sealed

    monkeypatch.setattr(question_sets, "make", make_then_remove)
    train = Split.objects.for_browse().get(name="train")
    job = question_sets.create(train, name="few", recipe=read_recipe({"parent": "train", "first": 3}))
    assert leases.take(job)
    dataset_jobs.RUNNER.run(job)
    assert not default_storage.exists(f"{FOLDER}/{digests[0]}/late")
    assert not Split.objects.filter(name="few").exists()


# Again ------------------------------------------------------------------------------------------------------


def test_the_command_of_a_recipe_is_complete() -> None:
    recipe = read_recipe({
        "parent": "val", "filter": "type=count&length=8..12", "shares": {"answer": {"1": 10, "it's": 0}}, "share": 2.5,
    })  # fmt: skip
    assert split_recipes.command(recipe, dataset="clevr", name="few") == (
        "python manage.py derive clevr/val --name few --filter 'type=count&length=8..12' --keep answer=1:10 "
        "--keep 'answer=it'\"'\"'s:0' --share 2.5 --seed 0"
    )
    assert json.loads(recipe.to_json()) == {
        "parent": "val", "filter": "type=count&length=8..12", "shares": {"answer": {"1": 10, "it's": 0}}, "share": 2.5,
        "seed": 0,
    }  # fmt: skip
    assert read_recipe(recipe.to_json()) == recipe


def test_a_filter_is_read_from_an_address_and_stored_normalized(rows_of_numbers: Dataset) -> None:
    few = derive(rows_of_numbers, filter="?q=largest&page=3&total.from=5&total.to=30", first=2)
    assert read_recipe(few.recipe).filter == "total=5..30&q=largest"
    said = "where total is 5 to 30 and the words “largest” occur, the first of them"
    assert question_sets.describe_recipe(few) == f"2 of 120 questions of train {said}"


# The command line -------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[str, str]:
    """Run a command; return its standard output and its standard error."""
    call_command(*command)
    said = capsys.readouterr()
    return said.out, said.err


def test_the_command_makes_a_derived_split_and_prints_its_hash(
    rows_of_numbers: Dataset, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_sets, "AT_ONCE", 1)  # the command does not leave the work to background processes
    options = "--filter type=sum&type=odd --keep type=odd:50 --keep type=sum:20% --share 50 --seed 7"
    out, err = run(capsys, "derive", "rows/train", "--name", "few", *options.split())
    few = Split.objects.get(name="few")
    assert out == f"{few.fingerprint}\n"
    assert err == (
        f"rows/few: {few.questions} of 120 questions of train where type is sum or odd, with only 50 % of those "
        "whose type is odd and only 20 % of those whose type is sum, 50 % of them, sampled with seed 7\n"
    )
    listed = json.loads(run(capsys, "datasets", "--json")[0])
    assert [(one["splits"], one["questions"]) for one in listed] == [(["train", "test", "few"], 135)]
    again = split_recipes.command(read_recipe(few.recipe), dataset="rows", name="again")
    run(capsys, *shlex.split(again)[2:])
    assert Split.objects.get(name="again").fingerprint == few.fingerprint
    assert run(capsys, "delete", "rows/few") == ("", "")
    assert not Split.objects.filter(name="few").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("derive rows --name a --first 1", "Expected DATASET/SPLIT, got 'rows'"),
        ("derive rows/val --name a --first 1", "rows: Expected a split .train, test., got 'val'"),
        ("derive no/val --name a --first 1", "Expected a dataset .rows., got 'no'"),
        (
            "derive rows/train --name a",
            "Expected a filter, .* or without_held_out, got none",
        ),
        ("derive rows/train --name a --first 1 --sample 1", "not allowed with argument"),
        ("derive rows/train --name a --first 0", "expected a number of questions from 1, got '0'"),
        ("derive rows/train --name a --share 101", "expected a percentage, 0 to 100, got '101'"),
        ("derive rows/train --name a --share 0", "share: Expected greater than 0, got 0.0"),
        ("derive rows/train --name a --keep type", "expected FACET=VALUE:P, such as answer=1:10, got 'type'"),
        ("derive rows/train --name a --keep type=odd:1 --keep type=odd:2", "--keep: Expected each value once"),
        ("derive rows/train --name a --sample 1 --seed x", "expected a seed from 0, got 'x'"),
        ("derive rows/train --name train --first 1", "name: Expected a new name, got 'train'"),
        ("delete rows/train", "Expected a question set, got rows/train"),
    ],
)
def test_the_command_refuses_bad_input_in_one_line(rows_of_numbers: Dataset, command: str, message: str) -> None:
    with pytest.raises(CommandError, match=message) as refused:
        call_command(*command.split())
    assert refused.value.returncode in (1, 2)  # run as a program, errors of the argument parser exit with 2
    assert "\n" not in str(refused.value)
    assert not Split.objects.filter(kind="derived").exists()


def test_a_command_that_fails_leaves_no_split(rows_of_numbers: Dataset) -> None:
    Question.objects.filter(split__name="train", position=3).delete()
    with pytest.raises(CommandError, match=r"Expected 10 questions, got 9") as failed:
        call_command("derive", "rows/train", "--name", "few", "--first", "10")
    assert failed.value.returncode == 1
    assert not Split.objects.filter(name="few").exists()


@given(st.lists(st.integers(0, 5), max_size=60), st.floats(0, 1.1))
@example(positions=[5, 0, 2, 2, 1, 4], share=0.5)
@example(positions=[3, 0, 2], share=1.0)
def test_lowest_takes_what_sorting_takes(positions: list[int], share: float) -> None:
    """Keys and positions occur several times."""
    keys, count = np.array([0.5, 0.1, 0.5, 0.9, 0.1, 0.3]), int(share * len(positions))
    expected = sorted(sorted(positions, key=lambda position: keys[position])[:count])
    assert lowest(np.array(positions, np.int64), keys=keys, count=count).tolist() == expected


@given(st.lists(st.sampled_from([0, 1, 255, 256, 65_536, 10**9])), st.sets(st.integers(0, 30)))
@example(groups=[256, 0, 10**9, 256, 1, 0, 65_536], chosen={0, 1, 2, 3, 5, 6})
def test_positions_are_divided_into_groups(groups: list[int], chosen: set[int]) -> None:
    positions = [position for position in sorted(chosen) if position < len(groups)]
    slow = {group: [one for one in positions if groups[one] == group] for group in {groups[one] for one in positions}}
    found = by_group(np.array(positions, np.int64), np.array(groups, np.int64))
    assert [part.tolist() for part in found if len(part)] == [slow[group] for group in sorted(slow)]
