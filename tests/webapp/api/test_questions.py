"""Datasets, splits, questions and scenes in the API."""

from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from generation.making import dataset_jobs
from generation.models import Dataset, Question, Scene, Split
from generation.splits.query_string import BadAddress, QueryString
from generation.splits.split_recipes import read_recipe
from webapp.api.pagination import MOST, page_size_of

pytestmark = pytest.mark.django_db

SHAPES = "/api/v1/datasets/shapes/"
TRAIN, TEST = f"{SHAPES}splits/train/", f"{SHAPES}splits/test/"
WITHHELD_FIELDS = {"answer", "answer_kind", "program", "source_id", "spelling"}


def rows(name: str) -> list[Question]:
    return list(Question.objects.filter(split__name=name).order_by("position").select_related("scene"))


def all_of(client: Client, address: str) -> list[dict[str, Any]]:
    """Return the items of all pages of a list, by following the links to the next page."""
    found: list[dict[str, Any]] = []
    following: str | None = address
    while following:
        page = client.get(following).json()
        found += page["results"]
        following = page["next"]
    assert len(found) == page["count"]
    return found


@pytest.fixture
def part(shapes: Dataset) -> Split:
    """Give a question set of the withheld split."""
    parent = Split.objects.for_browse().get(dataset=shapes, name="test")
    return dataset_jobs.derive(parent, name="part", recipe=read_recipe({"parent": "test", "sample": 5, "seed": 1}))


# Datasets and splits ----------------------------------------------------------------------------------------


def test_a_dataset_has_its_splits_in_order(client: Client, shapes: Dataset, part: Split) -> None:
    found = client.get(SHAPES).json()
    assert [one["name"] for one in found["splits"]] == ["train", "val", "test", "part"]
    assert [one["withheld"] for one in found["splits"]] == [False, False, True, True]
    assert [one["parent"] for one in found["splits"]] == [None, None, None, "test"]
    assert found["splits"][1]["reference"] == "train"
    assert found == client.get("/api/v1/datasets/").json()["results"][0]
    assert client.get(found["url"]).json() == found


def test_a_split_lists_its_answers_and_facets(client: Client, program: Client, shapes: Dataset) -> None:
    found = client.get(TRAIN).json()
    assert {"yes", "no", "0", "cube"} <= set(found["answers"])
    facets = {one["name"]: one for one in found["facets"]}
    assert facets["type"]["kind"] == "category"
    assert "answer" in facets
    withheld = {one["name"]: one["reveals"] for one in client.get(TEST).json()["facets"]}
    assert withheld
    assert not any(withheld.values())
    assert "answer" in {one["name"] for one in program.get(TEST).json()["facets"]}


# Questions --------------------------------------------------------------------------------------------------


def test_questions_are_the_stored_ones(client: Client, shapes: Dataset) -> None:
    found = all_of(client, f"{TRAIN}questions/?size=3")
    stored = rows("train")
    assert [one["question_id"] for one in found] == list(range(16))
    for one, row in zip(found, stored, strict=True):
        assert (one["question"], one["answer"], one["program"]) == (row.text, row.answer, row.program_json)
        assert (one["scene"], one["kind"]) == (row.scene.position, row.kind)
        assert one["facets"]["type"] == row.kind
        assert one["facets"]["length"] == len(row.steps or ())
        assert client.get(one["page"]).status_code == 200
        alone = client.get(one["url"]).json()
        assert {name: alone[name] for name in one} == one
        assert row.answer in alone["choices"]
        assert one["question"] in alone["prompt"]


def test_filters_are_those_of_the_page(client: Client, shapes: Dataset) -> None:
    stored = rows("train")
    kinds = sorted({row.kind for row in stored})[:2]
    expected = [row.position for row in stored if row.kind in kinds and 6 <= len(row.steps or ()) <= 20]
    found = all_of(client, f"{TRAIN}questions/?type={kinds[0]}&type={kinds[1]}&length=6..20&size=1")
    assert [one["question_id"] for one in found] == expected


def test_pages_link_to_the_next_and_the_previous_page(client: Client, shapes: Dataset) -> None:
    page = client.get(f"{TRAIN}questions/?size=5&page=2").json()
    assert (page["count"], page["page"], page["pages"]) == (16, 2, 4)
    assert [one["question_id"] for one in client.get(page["previous"]).json()["results"]] == [0, 1, 2, 3, 4]
    assert client.get(f"{TRAIN}questions/?size=5&page=5").status_code == 404


def test_withheld_fields_are_absent(client: Client, stranger: Client, shapes: Dataset, part: Split) -> None:
    for one in (client, stranger):
        for address in (f"{TEST}questions/", f"{SHAPES}splits/part/questions/"):
            for found in all_of(one, address):
                assert not WITHHELD_FIELDS & set(found)
                assert not WITHHELD_FIELDS & set(one.get(found["url"]).json())
                assert found["question"]
                assert found["image"]


def test_the_owner_sees_all_fields_of_a_withheld_split(program: Client, shapes: Dataset) -> None:
    found = all_of(program, f"{TEST}questions/")
    assert [one["answer"] for one in found] == [row.answer for row in rows("test")]
    assert all(one["program"] for one in found)


@pytest.mark.parametrize(
    "query", ["answer=yes", "objects=3..5", "nothing=1", "size=0", "size=x", "size=9999", "page=0"]
)
def test_invalid_filters_and_filters_that_would_reveal_answers_are_refused(
    client: Client, shapes: Dataset, query: str
) -> None:
    assert client.get(f"{TEST}questions/?{query}").status_code == 400


def test_a_question_set_numbers_its_questions_from_zero(program: Client, shapes: Dataset, part: Split) -> None:
    found = all_of(program, f"{SHAPES}splits/part/questions/")
    stored = {row.position: row for row in rows("test")}
    assert [one["question_id"] for one in found] == list(range(5))
    for one in found:
        alone = program.get(one["url"]).json()
        row = stored[alone["parent_question_id"]]
        assert (one["question"], one["answer"], one["scene"]) == (row.text, row.answer, row.scene.position)
        assert program.get(one["image"].removesuffix("image")).json()["split"] == "test"


def test_a_page_needs_few_queries(client: Client, shapes: Dataset, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(3):
        client.get(f"{TRAIN}questions/")
    with django_assert_max_num_queries(3):
        client.get(f"{TRAIN}scenes/")


def test_questions_and_scenes_that_do_not_exist_are_404(client: Client, shapes: Dataset) -> None:
    for address in ("questions/16/", "questions/999999999/", "questions/x/", "scenes/4/", "scenes/?page=2"):
        assert client.get(TRAIN + address).status_code == 404, address
    assert client.get(f"{SHAPES}splits/nothing/questions/").status_code == 404


def test_an_unfinished_split_has_no_list_yet(client: Client, shapes: Dataset) -> None:
    Split.objects.filter(name="val").update(state="making")
    answer = client.get(f"{SHAPES}splits/val/questions/")
    assert answer.status_code == 404
    assert "Expected a complete split" in answer.json()["error"]["message"]
    assert client.get(f"{SHAPES}splits/val/").json()["facets"] == []


# Scenes -----------------------------------------------------------------------------------------------------


def test_scenes_are_the_stored_ones(client: Client, shapes: Dataset) -> None:
    found = all_of(client, f"{TRAIN}scenes/?size=3")
    stored = list(Scene.objects.filter(split__name="train").order_by("position"))
    assert [one["scene"] for one in found] == [0, 1, 2, 3]
    for one, row in zip(found, stored, strict=True):
        assert (one["data"], one["view"]) == (row.scene_json, row.view_json)
        assert (one["width"], one["height"]) == (120, 80)
        assert one["questions"] == list(row.question_set.order_by("position").values_list("position", flat=True))
        assert client.get(one["url"]).json() == one


def test_scenes_of_a_withheld_split_have_only_their_pictures(client: Client, program: Client, shapes: Dataset) -> None:
    told = {"data", "view", "ids_image"}
    for one in all_of(client, f"{TEST}scenes/"):
        assert not told & set(one)
        assert one["image"]
    for one in all_of(program, f"{TEST}scenes/"):
        assert told <= set(one)


def test_a_question_set_refers_to_the_scenes_of_its_parent(client: Client, part: Split) -> None:
    answer = client.get(f"{SHAPES}splits/part/scenes/")
    assert answer.status_code == 404
    assert "Its scenes are those of shapes/test" in answer.json()["error"]["message"]


@given(st.text(max_size=8))
def test_a_page_size_is_a_number_up_to_the_limit(text: str) -> None:
    try:
        size, rest = page_size_of(QueryString((("size", text), ("q", "red"))))
    except BadAddress:
        assert not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST and len(text) <= 4)
    else:
        assert 1 <= size <= MOST
        assert rest.pairs == (("q", "red"),)
