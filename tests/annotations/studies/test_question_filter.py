"""Studies of the questions that a filter finds: the plan, the sample, and the question set that opening makes."""

import copy
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from annotations.models import Study
from annotations.results import study_statistics
from annotations.studies import lifecycle, planning, question_filter, sampling
from annotations.studies.lifecycle import NotReady
from annotations.studies.question_filter import BadFilter
from annotations.studies.sampling import BadSample
from generation import extension_points
from generation.making import dataset_jobs
from generation.models import Dataset, Job, Split
from generation.queue.runner import Runner
from generation.splits.split_recipes import read_recipe
from generation.storage.split_index import SplitIndex
from tests.annotations import answered
from tests.annotations.studies.test_lifecycle import make
from tests.annotations.studies.test_study_pages import browser_of, form, rosa, text_of
from webapp.models import User

__all__ = ["form", "rosa"]  # fixtures
FILTER = "group=count&length=..12"
NEW = "/studies/new/?split=shapes/train"


@pytest.fixture
def mine(shapes: Dataset) -> Dataset:
    """Give a dataset that the researcher owns."""
    owner, _ = User.objects.get_or_create(username="rosa")
    Dataset.objects.filter(pk=shapes.pk).update(owner=owner)
    shapes.refresh_from_db()
    return shapes


def find_positions(dataset: Dataset, text: str = FILTER) -> set[int]:
    index = SplitIndex.open(dataset.splits.get(name="train"))
    query = question_filter.Chooser(dataset.splits.get(name="train"), index).read_filter(text)
    return set(index.select(query.filters).tolist())


def study_of(dataset: Dataset, **options: Any) -> Study:
    wanted = min(3, len(find_positions(dataset)))
    return make(dataset, **{"filter": FILTER, "wanted": wanted} | options)


def sets_of(dataset: Dataset) -> list[Split]:
    return list(dataset.splits.filter(kind=Split.Kind.DERIVED))


# Sampling


def test_a_sample_comes_from_the_questions_that_the_filter_finds(mine: Dataset) -> None:
    everything = find_positions(mine)
    assert 0 < len(everything) < 16
    study = study_of(mine, wanted=len(everything))
    assert set(sampling.draw(study).positions.tolist()) == everything
    slices = {one.label: one.slices for one in planning.breakdowns(study, sampling.draw(study))}
    assert "group" not in slices  # a facet with one value has no slices
    study.wanted += 1
    with pytest.raises(BadSample, match="that the filter finds, got") as error:
        sampling.draw(study)
    assert error.value.where == "wanted"


def test_opening_asks_the_sample_of_the_draft(mine: Dataset) -> None:
    study = study_of(mine)
    foretold = sampling.draw(study)
    lifecycle.open_study(study)
    [made] = sets_of(mine)
    assert (study.split, study.state, study.is_frozen, made.name) == (made, "open", True, f"study-{study.pk}")
    index = SplitIndex.open(made)
    asked = study.questions.order_by("position").values_list("position", flat=True)
    assert index.in_source(asked) == foretold.positions.tolist()
    assert sampling.draw(study).ranks == foretold.ranks
    assert set(index.in_source(range(index.n))) == find_positions(mine)
    assert read_recipe(made.recipe).filter == study.filter
    assert study.code not in made.name  # the question set is public, and the study's address is secret


def test_results_and_links_are_those_of_the_question_set(mine: Dataset, rosa: Client) -> None:
    study = study_of(mine, per_question=1)
    lifecycle.open_study(study)
    index, person = SplitIndex.open(study.split), study.participants.create()
    for position in study.questions.values_list("position", flat=True):
        answered.put(person, study, position, index.answer_values[index.answers[position]], number=0)
    found = study_statistics.headline(study_statistics.gather(study))
    assert (found.majority.right, found.majority.n) == (study.wanted, study.wanted)
    page = text_of(rosa.get(f"/studies/{study.code}/results/?flag=every"))
    assert f'href="/datasets/shapes/{study.split.name}/q/' in page
    assert f"a question set: {len(find_positions(mine))} of 16 questions of train where group is count" in page
    lines = b"".join(rosa.get(f"/studies/{study.code}/answers.jsonl")).decode().splitlines()
    assert all(f'"split": "shapes/{study.split.name}"' in line for line in lines) and lines
    overview = text_of(rosa.get(f"/studies/{study.code}/"))
    assert "of 16 questions of train where group is count" in overview
    assert 'href="/datasets/shapes/train/?group=count&amp;length=..12"' in overview
    with pytest.raises(extension_points.Referred):
        extension_points.check_split_unreferred(study.split)


# Made only once


def test_opening_twice_makes_one_question_set(mine: Dataset) -> None:
    study = study_of(mine)
    twin = Study.objects.get(pk=study.pk)
    for one in (study, study, twin):
        lifecycle.open_study(one)
    assert len(sets_of(mine)) == 1
    assert (study.slots.count(), study.texts.count()) == (3 * study.wanted, 2)


def test_two_tabs_at_once_make_one_question_set(mine: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(mine)
    other = Study.objects.select_related("split").get(pk=study.pk)
    begun, deriving_create = [], question_filter.question_sets.create

    def create(*parts: Any, **options: Any) -> Job:
        job = deriving_create(*parts, **options)
        begun.append(job)
        return job

    monkeypatch.setattr(question_filter.question_sets, "create", create)
    question_filter.freeze(study)
    lifecycle.open_study(other)  # this object was loaded before the question set was made
    lifecycle.open_study(study)
    assert len(begun) == len(sets_of(mine)) == 1
    assert other.split == study.split and study.questions.count() == study.wanted


def test_opening_goes_on_after_a_killed_process(mine: Dataset, monkeypatch: pytest.MonkeyPatch, rosa: Client) -> None:
    study = study_of(mine)
    with monkeypatch.context() as patch:
        patch.setattr(Runner, "run_now", lambda self, job: False)  # as if the process had ended here
        with pytest.raises(NotReady, match=r"Open the study when .* is complete") as error:
            lifecycle.open_study(study)
    assert error.value.where == "split"
    study = Study.objects.get(pk=study.pk)
    assert (study.state, study.questions.count(), len(sets_of(mine))) == ("draft", 0, 1)
    page = text_of(rosa.get(f"/studies/{study.code}/"))
    assert "for this study is being made" in page and "disabled" not in page
    assert rosa.get(f"/studies/{study.code}/edit/")["Location"] == f"/studies/{study.code}/"
    lifecycle.open_study(study)
    assert (study.state, study.questions.count(), len(sets_of(mine))) == ("open", study.wanted, 1)


def test_a_question_set_that_failed_is_made_again(mine: Dataset, monkeypatch: pytest.MonkeyPatch, rosa: Client) -> None:
    study = study_of(mine)
    with monkeypatch.context() as patch:
        patch.setattr(Runner, "run_now", lambda self, job: False)
        with pytest.raises(NotReady):
            lifecycle.open_study(study)
    Job.objects.filter(split=study.split).update(state="failed", message="The disk is gone.")
    Split.objects.filter(pk=study.split.pk).update(state="failed")
    assert "The disk is gone. Open the study to try again." in text_of(rosa.get(f"/studies/{study.code}/"))
    study = Study.objects.select_related("split__parent").get(pk=study.pk)
    lifecycle.open_study(study)
    assert (study.state, len(sets_of(mine))) == ("open", 1)


def test_a_large_question_set_is_made_by_background_processes(mine: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(mine)
    woken: list[str] = []
    monkeypatch.setattr(question_filter.question_sets, "AT_ONCE", 0)
    monkeypatch.setattr(Runner, "wake", lambda self: woken.append(self.name))
    for _ in range(2):
        with pytest.raises(NotReady, match="is being made"):
            lifecycle.open_study(study)
    assert woken == ["datasets", "datasets"]
    dataset_jobs.work(dataset=mine)
    lifecycle.open_study(Study.objects.select_related("split__parent").get(pk=study.pk))
    assert Study.objects.get(pk=study.pk).state == "open" and len(sets_of(mine)) == 1


def test_the_question_set_gets_another_name_if_its_name_is_taken(mine: Dataset) -> None:
    study = study_of(mine)
    recipe = read_recipe({"parent": "train", "first": 2})
    dataset_jobs.derive(
        Split.objects.for_browse().get(dataset=mine, name="train"), name=f"study-{study.pk}", recipe=recipe
    )
    lifecycle.open_study(study)
    assert study.split.name == f"study-{study.pk}-2"


# Refusals


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour=red", "Expected a filter (group, type,"),
        ("length=red", "Filter length: expected numbers from"),
        ("group=nothing", "Filter group: expected one of"),
        ("q=zebras", "Expected a filter that finds questions of shapes/train, got one that finds none."),
        ("q=" + "x" * 300, "Search words: expected at most 200 characters"),
        ("q=%00", "got a zero character"),
    ],
)
def test_a_bad_filter_gets_a_message_at_its_field(
    rosa: Client, mine: Dataset, form: dict[str, Any], text: str, said: str
) -> None:
    answer = rosa.post(NEW, form | {"filter": text, "wanted": 1})
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, ["filter"])
    assert said in answer.context["form"].errors["filter"][0]
    shown = rosa.get(NEW, {"split": "shapes/train", "filter": text, "wanted": 1})
    assert shown.status_code == 200 and shown.context["shown"].plan is None
    assert (Study.objects.count(), sets_of(mine)) == (0, [])


def test_too_few_questions_get_a_message_at_their_field(rosa: Client, mine: Dataset, form: dict[str, Any]) -> None:
    answer = rosa.post(NEW, form | {"filter": FILTER, "wanted": 16})
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, ["wanted"])
    assert "all of shapes/train that the filter finds, got 16" in text_of(answer)


def test_a_filter_that_would_reveal_withheld_answers_is_refused(mine: Dataset) -> None:
    test, owner = mine.splits.get(name="test"), User.objects.get(username="rosa")
    with pytest.raises(BadFilter, match="a filter by answer would reveal part of them"):
        question_filter.plain(test, "answer=yes", user=owner)
    assert question_filter.plain(test, "?group=count&page=3", user=owner) == "group=count"
    study = make(mine, split=test, filter="answer=yes", easy=None, practice=0, practice_right=0, checks=0, wanted=1)
    assert [one.where for one in lifecycle.problems(study)] == ["filter"]
    with pytest.raises(NotReady, match="withheld"):
        lifecycle.open_study(study)
    assert (study.state, sets_of(mine)) == ("draft", [])


def test_a_question_set_is_not_filtered_again(rosa: Client, mine: Dataset, form: dict[str, Any]) -> None:
    recipe = read_recipe({"parent": "train", "first": 12})
    dataset_jobs.derive(Split.objects.for_browse().get(dataset=mine, name="train"), name="few", recipe=recipe)
    answer = rosa.post("/studies/new/?split=shapes/few", form | {"filter": FILTER, "wanted": 1})
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, ["filter"])
    assert "got shapes/few. Make the question set from shapes/train" in text_of(answer)
    assert rosa.post("/studies/new/?split=shapes/few", form | {"filter": "", "wanted": 4}).status_code == 302


def test_a_dataset_of_somebody_else_is_not_filtered(rosa: Client, shapes: Dataset, form: dict[str, Any]) -> None:
    answer = rosa.post(NEW, form | {"filter": FILTER, "wanted": 1})
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, ["filter"])
    assert "Expected one of your datasets" in text_of(answer)


def test_the_filter_of_an_opened_study_cannot_be_changed(rosa: Client, mine: Dataset, form: dict[str, Any]) -> None:
    study = study_of(mine)
    lifecycle.open_study(study)
    before = copy.copy(study.filter)
    answer = rosa.post(f"/studies/{study.code}/edit/", form | {"filter": "", "title": "Others"})
    assert answer.status_code == 302, text_of(answer)
    study.refresh_from_db()
    assert (study.title, study.filter, study.split) == ("Others", before, sets_of(mine)[0])


def test_an_old_form_does_not_change_a_study_that_was_opened_in_the_meantime(
    rosa: Client, mine: Dataset, form: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(mine)
    from annotations.views import study_form

    find = study_form.find_study

    def find_before_it_opens(*parts: Any) -> Study:
        found = find(*parts)
        lifecycle.open_study(study)
        return found

    monkeypatch.setattr(study_form, "find_study", find_before_it_opens)
    answer = rosa.post(f"/studies/{study.code}/edit/", form | {"filter": "", "wanted": 9, "title": "Others"})
    assert answer.status_code == 409
    stored = Study.objects.get(pk=study.pk)
    assert (stored.state, stored.title, stored.split) == ("open", "Shapes", sets_of(mine)[0])


# From the page of the split


def test_the_page_of_found_questions_links_to_a_study_of_them(rosa: Client, mine: Dataset) -> None:
    page = rosa.get("/datasets/shapes/train/?group=count&length=..12")
    [offer] = page.context["links"]
    assert offer.label == "Make a study of what is found"
    assert parse_qs(urlsplit(offer.address).query) == {"split": ["shapes/train"], "filter": [FILTER]}
    n = len(find_positions(mine))
    shown = text_of(rosa.get(f"{offer.address}&wanted=1"))
    assert (
        f"The sample is drawn from {n} of 16 questions of train where group is count and program length is at most 12."
        in shown
    )
    assert 'href="/datasets/shapes/train/?group=count&amp;length=..12"' in shown
    assert rosa.get("/datasets/shapes/train/?q=zebras").context["links"] == []


def test_the_form_of_a_filter_makes_a_study_that_opens(rosa: Client, mine: Dataset, form: dict[str, Any]) -> None:
    answer = rosa.post(f"{NEW}&filter=group%3Dcount", form | {"filter": FILTER, "wanted": 2}, follow=True)
    study = Study.objects.get()
    assert (study.filter, answer.status_code) == (question_filter.plain(study.split, FILTER, user=study.owner), 200)
    assert "the questions that match its filter become a question set." in text_of(answer)
    opened = rosa.post(f"/studies/{study.code}/open/", follow=True)
    assert "The study is open." in text_of(opened)
    assert browser_of("eve").get("/datasets/shapes/").status_code == 200
