"""Making fresh twins: what they share with their split, what is new, and which splits can have none."""

import hashlib
import json
import threading
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models.functions import Now

from generation.engine.errors import EngineError
from generation.engine.spec import BaseSpec
from generation.engine.worlds import find_preset
from generation.exchange.exports import StoredSplit, Viewer
from generation.making import dataset_jobs, deletion, fresh_twins
from generation.making.fresh_twins import make_twins, may_make_twin, resume_twin
from generation.models import Dataset, FreshTwin, Job, Limit, Question, Quota, Split
from generation.specs import loading
from generation.specs.reproduction import recipe
from generation.splits.split_recipes import read_recipe
from generation.storage.split_index import SplitIndex
from generation.verification import dataset as verifying
from tests.clients import make_researcher
from tests.generation import small
from tests.generation.complete_datasets import finish
from tests.worlds.clevr.formats.releases import scenes_of
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

TWO_EACH = {"questions": {"per_scene": 2}}


@pytest.fixture
def shapes(db: None) -> Dataset:
    return small.made(with_images=False)


@pytest.fixture
def researcher(db: None) -> User:
    return make_researcher("rosa")


def split_of(dataset: Dataset, name: str) -> Split:
    return Split.objects.for_browse().get(dataset=dataset, name=name)


def finished(twin: FreshTwin) -> Split:
    """Make a twin and return its complete split."""
    dataset_jobs.work(dataset=twin.split.dataset)
    split = Split.objects.for_browse().get(pk=twin.split_id)
    assert split.dataset.state == Dataset.State.COMPLETE, split.dataset.error
    return split


def texts(split: Split) -> list[tuple[str, str | None]]:
    return list(Question.objects.filter(split=split).order_by("position").values_list("text", "answer"))


def test_a_twin_has_the_same_spec_and_other_questions(shapes: Dataset) -> None:
    val = split_of(shapes, "val")
    twin = finished(make_twins(val)[0])
    spec, source = twin.dataset.spec_data, shapes.spec_data
    own = spec["splits"].pop("val")
    assert list(spec["splits"]) == []
    assert own == {**source["splits"]["val"], "withheld": True, "reference": None}
    assert {**spec, "splits": {}} == {**source, "splits": {}}
    assert (twin.name, twin.scenes, twin.questions) == ("val", val.scenes, val.questions)
    assert twin.fingerprint != val.fingerprint and texts(twin) != texts(val)
    assert twin.withheld and not val.withheld
    assert twin.dataset.visibility == shapes.visibility and str(val) in twin.dataset.title


def test_each_twin_has_its_own_secret(shapes: Dataset) -> None:
    twins = make_twins(split_of(shapes, "val"), count=3)
    secrets = [twin.split.secret for twin in twins]
    assert len(set(secrets)) == 3 and all(len(secret) == 32 for secret in secrets)
    assert [twin.number for twin in twins] == [1, 2, 3]
    assert [twin.number for twin in make_twins(split_of(shapes, "val"))] == [4]
    assert len({finished(twin).fingerprint for twin in twins}) == 3


def test_the_secret_and_the_public_spec_make_the_twin_again(shapes: Dataset) -> None:
    twin = finished(make_twins(split_of(shapes, "val"))[0])
    again = dataset_jobs.start(twin.dataset.spec_data, slug="again", images=False, secrets={"val": twin.secret})
    dataset_jobs.work(dataset=again)
    again.refresh_from_db()
    assert again.fingerprint == twin.dataset.fingerprint
    guess = dataset_jobs.start(twin.dataset.spec_data, slug="guess", images=False)
    dataset_jobs.work(dataset=guess)
    guess.refresh_from_db()
    assert guess.fingerprint != twin.dataset.fingerprint


def test_a_twin_is_compared_with_the_train_split_of_its_source(shapes: Dataset) -> None:
    val = split_of(shapes, "val")
    twin = finished(make_twins(val)[0])
    assert twin.reference == split_of(shapes, "train") and twin.own_reference is None
    assert twin.seen_digest and set(SplitIndex.open(twin).facets) == set(SplitIndex.open(val).facets)


def test_a_twin_can_be_verified_and_exported(shapes: Dataset) -> None:
    twin = finished(make_twins(split_of(shapes, "val"))[0])
    verdict = verifying.verify(twin.dataset, verifying.scope_of(twin.dataset), workers=1)
    assert verdict.holds, verdict.findings
    assert StoredSplit(twin, viewer=Viewer(withheld=False), images=False).reference is None


def test_a_split_with_overrides_keeps_them(db: None) -> None:
    splits = {"trainA": {"scenes": 2}, "valB": {"scenes": 3, "reference": "trainA", "overrides": TWO_EACH}}
    source = small.made("conditions", with_images=False, splits=splits)
    twin = finished(make_twins(split_of(source, "valB"))[0])
    assert (twin.name, twin.questions, twin.reference) == ("valB", 6, split_of(source, "trainA"))
    assert twin.dataset.slug == "conditions-valb-fresh-1"
    assert twin.read_spec().to_json()["questions"] == split_of(source, "valB").read_spec().to_json()["questions"]


@pytest.mark.parametrize(
    "preset",
    [
        pytest.param("clevr-cogent-mini", marks=pytest.mark.full),
        "shapeworld-oneshape",
        "babi",
        pytest.param("simtown-mini", marks=pytest.mark.full),
        pytest.param("clevr-counting-mini", marks=pytest.mark.full),
    ],
)
def test_splits_of_all_worlds_can_have_twins(db: None, preset: str) -> None:
    data = find_preset(preset)
    spec = loading.change(data, scenes=dict.fromkeys(loading.change(data)["splits"], 40))
    source = finish(dataset_jobs.start(spec, slug="source", images=False))
    split = Split.objects.for_browse().filter(dataset=source).last()
    assert split is not None
    twin = finished(make_twins(split)[0])
    assert twin.questions == split.questions and twin.fingerprint != split.fingerprint
    assert set(SplitIndex.open(twin).answer_values) == set(SplitIndex.open(split).answer_values)
    assert verifying.verify(twin.dataset, verifying.scope_of(twin.dataset)).holds


def test_the_number_of_questions_is_rounded_up_to_whole_scenes(shapes: Dataset) -> None:
    train = split_of(shapes, "train")
    [twin] = make_twins(train, questions=33)
    assert (twin.split.scenes, twin.split.questions) == (9, 36)


def test_a_twin_has_at_least_the_wanted_questions_if_the_first_stories_have_fewer(db: None) -> None:
    spec = find_preset("babi-valid")
    spec["splits"] = {"val": {**spec["splits"]["val"], "reference": None}}
    begun = dataset_jobs.start(spec, slug="stories", visibility="public")
    complete = {"state": Dataset.State.COMPLETE, "fingerprint": "0" * 64, "completed": Now()}
    Dataset.objects.filter(pk=begun.pk).update(**complete)
    val = split_of(begun, "val")
    for questions in (30, 77, 333):
        [twin] = make_twins(val, questions=questions)
        assert questions <= twin.split.questions <= 1.5 * questions + 20


# Refusals


def is_refused(split: Split, message: str, **options: Any) -> None:
    before = Dataset.objects.count(), FreshTwin.objects.count()
    with pytest.raises(EngineError) as caught:
        make_twins(split, **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert (Dataset.objects.count(), FreshTwin.objects.count()) == before


def test_question_sets_imports_and_twins_are_refused_with_advice(shapes: Dataset) -> None:
    val = split_of(shapes, "val")
    few = dataset_jobs.derive(val, name="few", recipe=read_recipe({"parent": "val", "first": 3}))
    is_refused(few, "Make a fresh twin of shapes/val, then make the same question set from the twin.")
    [twin] = make_twins(val)
    is_refused(finished(twin), "Make further twins of the split that it is a twin of.")
    Split.objects.filter(pk=val.pk).update(kind=Split.Kind.IMPORTED)
    is_refused(split_of(shapes, "val"), "Expected a generated split, got an imported one.")


def test_a_split_of_an_unfinished_dataset_or_of_another_engine_is_refused(shapes: Dataset) -> None:
    Dataset.objects.filter(pk=shapes.pk).update(engine_version="0")
    is_refused(split_of(shapes, "val"), "(engine 0)")
    Dataset.objects.filter(pk=shapes.pk).update(state=Dataset.State.MAKING)
    is_refused(split_of(shapes, "val"), "Expected a complete dataset, got one that is making.")


def test_a_split_that_asks_about_the_scenes_of_a_file_is_refused(
    shapes: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BaseSpec, "scene_files", frozenset({"0" * 64}))
    monkeypatch.setattr(type(shapes.read_spec()), "scene_files", frozenset({"0" * 64}))
    is_refused(split_of(shapes, "val"), "got one that asks about the scenes of a file")


def test_a_twin_gets_no_file_of_scenes_of_another_split(db: None, researcher: User) -> None:
    """These scenes may be withheld, and the owner of the twin may download its files."""
    content = json.dumps(scenes_of("val", 2)).encode()
    digest = hashlib.sha256(content).hexdigest()
    splits = {"val": {"scenes": 2}, "test": {"scenes": 2, "withheld": True, "overrides": {"scenes_from": digest}}}
    source = small.made("given", with_images=False, splits=splits, files={digest: content})
    assert [file.digest for file in source.files.all()] == [digest]
    is_refused(split_of(source, "test"), "got one that asks about the scenes of a file")
    [twin] = make_twins(split_of(source, "val"), owner=researcher)
    assert not twin.split.dataset.files.exists()
    assert finished(twin).questions == split_of(source, "val").questions
    splits = {"val": {"scenes": 2, "overrides": {"scenes_from": None}}, "test": {"scenes": 2, "withheld": True}}
    source = small.made("given-to-all", with_images=False, splits=splits, scenes_from=digest, files={digest: content})
    is_refused(split_of(source, "val"), "got one whose spec names the file for all splits")


@pytest.mark.parametrize("count", [0, -1, 30])
def test_too_many_twins_are_refused(shapes: Dataset, count: int) -> None:
    is_refused(split_of(shapes, "val"), "Expected 1 to 29 fresh twins of a split", count=count)


def test_the_limit_counts_the_twins_of_an_account(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_twins, "MOST", 2)
    val = split_of(shapes, "val")
    make_twins(val)
    is_refused(val, "There are 1 already. Delete one to make another.", count=2)
    make_twins(val)


@pytest.mark.parametrize("questions", [-5, 0, 29])
def test_too_few_questions_are_refused(shapes: Dataset, questions: int) -> None:
    is_refused(split_of(shapes, "val"), "Expected at least 30 questions", questions=questions)


def test_a_quota_that_the_second_twin_exceeds_leaves_nothing(shapes: Dataset, researcher: User) -> None:
    Quota.objects.create(user=researcher, scenes=3)
    is_refused(split_of(shapes, "val"), "Your quota is 3 scenes, and 2 are used.", count=2, owner=researcher)
    assert not FreshTwin.objects.exists()
    make_twins(split_of(shapes, "val"), owner=researcher)


def test_a_limit_of_the_account_applies(shapes: Dataset, researcher: User) -> None:
    Limit.objects.create(user=researcher, name="scenes", most=1)
    is_refused(split_of(shapes, "val"), "Expected at most 1 scenes in a split, got 2.", owner=researcher)


# Who may make them


def test_researchers_may_make_twins_of_public_datasets_and_of_their_own(shapes: Dataset, researcher: User) -> None:
    val, member = split_of(shapes, "val"), User.objects.create_user("mira", password="x")
    staff = User.objects.create_superuser("admin", password="x")
    assert [may_make_twin(user, val) for user in (AnonymousUser(), member, researcher, staff)] == [
        False, False, True, True,
    ]  # fmt: skip
    for visibility in (Dataset.Visibility.LINK, Dataset.Visibility.PRIVATE):
        Dataset.objects.filter(pk=shapes.pk).update(visibility=visibility)
        val = split_of(shapes, "val")
        assert [may_make_twin(user, val) for user in (researcher, staff)] == [False, True]
        [twin] = make_twins(val)
        assert twin.split.dataset.visibility == visibility
    Dataset.objects.filter(pk=shapes.pk).update(owner=researcher)
    assert may_make_twin(researcher, split_of(shapes, "val"))


# Names, deletion, stopping


def test_names_in_addresses_are_free_and_short(db: None) -> None:
    source = small.made("a" * 60, with_images=False, splits={"val_1": {"scenes": 1}})
    first, second = make_twins(split_of(source, "val_1"), count=2)
    assert first.split.dataset.slug == "a" * 52 + "-fresh-1" and len(second.split.dataset.slug) == 60
    FreshTwin.objects.all().delete()
    [third] = make_twins(split_of(source, "val_1"))  # its number is free again, but its name is not
    assert third.split.dataset.slug == "a" * 50 + "-fresh-1-1"


def test_a_twin_is_deleted_alone_and_outlives_its_source(shapes: Dataset) -> None:
    val = split_of(shapes, "val")
    first, second = make_twins(val, count=2)
    finished(first)
    deletion.remove(first.split.dataset)
    assert list(FreshTwin.objects.values_list("number", flat=True)) == [2]
    deletion.remove(shapes)
    second.refresh_from_db()
    assert second.source is None and str(second) == "fresh twin 2 of a deleted split"
    twin = finished(second)  # its reference was deleted meanwhile
    assert twin.reference is None and twin.seen_digest == ""


def test_a_cancelled_twin_goes_on_with_the_same_secret(shapes: Dataset) -> None:
    [twin] = make_twins(split_of(shapes, "val"))
    assert dataset_jobs.cancel(twin.split.dataset)
    assert list(FreshTwin.objects.unfinished()) == [twin]
    resume_twin(FreshTwin.objects.for_list().get())
    assert finished(twin).secret == twin.split.secret
    assert not FreshTwin.objects.unfinished().exists()


@pytest.mark.django_db(transaction=True)
def test_twins_that_are_made_at_the_same_time_have_different_numbers() -> None:
    val = split_of(small.made(with_images=False), "val")
    failed: list[Exception] = []

    def make() -> None:
        try:
            make_twins(Split.objects.for_browse().get(pk=val.pk))
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(FreshTwin.objects.values_list("number", flat=True)) == [1, 2, 3, 4]


# The secret


def test_the_recipe_tells_the_secret_only_to_those_who_may_see_it(shapes: Dataset) -> None:
    twin = finished(make_twins(split_of(shapes, "val"))[0])
    told = [recipe(twin.dataset, splits=[twin], has_files=False, sees_secrets=sees).script for sees in (True, False)]
    assert [twin.secret in text for text in told] == [True, False]


def test_jobs_and_errors_do_not_name_the_secret(shapes: Dataset) -> None:
    [twin] = make_twins(split_of(shapes, "val"))
    stored = [*Job.objects.filter(dataset=twin.split.dataset).values_list("message", flat=True), str(twin)]
    stored += [twin.split.dataset.spec, twin.split.dataset.description, twin.split.dataset.title]
    assert [text for text in stored if twin.split.secret in text] == []
