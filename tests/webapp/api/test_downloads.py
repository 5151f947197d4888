"""Downloads of all questions or pictures: the files of the export, whole and in ranges, without withheld parts."""

import gzip
import io
import json
import os
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotations.answering.throttle import Throttle
from generation.engine import formats
from generation.exchange.exports import StoredDataset, Viewer
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Scene, Split
from generation.splits.split_recipes import read_recipe
from generation.storage import files
from webapp.api import authentication
from webapp.api.files import questions_file
from webapp.running.housekeeping import tidy_up

pytestmark = pytest.mark.django_db

SPLITS = "/api/v1/datasets/shapes/splits/"
TRAIN, TEST, PART = f"{SPLITS}train/", f"{SPLITS}test/", f"{SPLITS}part/"
WITHHELD_FIELDS = ("answer", "program")


@pytest.fixture(autouse=True)
def without_stored_files() -> None:
    """Delete the files that other tests have made."""
    for path in questions_file.folder().glob("*"):
        path.unlink()


@pytest.fixture(autouse=True)
def without_request_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the limit of requests, because a full proof sends more requests in a minute than the limit allows."""
    monkeypatch.setattr(authentication, "throttle", Throttle(10**9, 60.0))


@pytest.fixture
def part(shapes: Dataset) -> Split:
    """Give a question set of the train split."""
    parent = Split.objects.for_browse().get(dataset=shapes, name="train")
    return dataset_jobs.derive(parent, name="part", recipe=read_recipe({"parent": "train", "sample": 5, "seed": 1}))


def export_split(dataset: Dataset, folder: Path, name: str, *, withheld: bool = False) -> Path:
    """Export a split and return its folder."""
    stored = StoredDataset(dataset, splits=[name], viewer=Viewer(withheld=withheld))
    form = formats.find("jsonl", dataset.get_world())
    form.write(stored, folder, options={}, tick=lambda _: None)
    return folder / name


def body(answer: Any) -> bytes:
    assert answer.status_code in (200, 206), answer
    return answer.getvalue()


def lines_of(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(content).splitlines()]


# Questions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["train", "test", "part"])
def test_questions_are_those_of_the_export(
    client: Client, shapes: Dataset, part: Split, tmp_path: Path, name: str
) -> None:
    stored = export_split(shapes, tmp_path, name) / "questions.jsonl.gz"
    for _ in range(2):  # the first request makes the file, the second request gets the stored file
        answer = client.get(f"{SPLITS}{name}/questions.jsonl.gz")
        assert gzip.decompress(body(answer)) == gzip.decompress(stored.read_bytes())
        assert answer["Content-Type"] == "application/gzip"


def test_withheld_fields_are_only_in_the_file_of_the_owner(program: Client, stranger: Client, client: Client) -> None:
    address = f"{TEST}questions.jsonl.gz"
    etags = {}
    for one, is_owner in ((stranger, False), (client, False), (program, True)):
        answer = one.get(address)
        etags[one] = answer["ETag"]
        assert all((line[name] is not None) == is_owner for line in lines_of(body(answer)) for name in WITHHELD_FIELDS)
    assert etags[stranger] == etags[client] != etags[program]


def test_later_requests_get_the_same_file_or_ranges_of_it(client: Client, shapes: Dataset) -> None:
    address = f"{TRAIN}questions.jsonl.gz"
    first = client.get(address)
    whole, etag = body(first), first["ETag"]
    again = client.get(address)
    assert (body(again), again["ETag"], again["Content-Length"]) == (whole, etag, str(len(whole)))
    rest = client.get(address, headers={"Range": "bytes=1000-", "If-Range": etag})
    assert body(rest) == whole[1000:]
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 304
    assert client.head(address)["Content-Length"] == str(len(whole))


def test_a_request_for_a_range_makes_a_file_that_does_not_exist_yet(client: Client, shapes: Dataset) -> None:
    address = f"{TRAIN}questions.jsonl.gz"
    part = client.get(address, headers={"Range": "bytes=10-29"})
    assert part.status_code == 206
    assert body(part) == body(client.get(address))[10:30]


def test_an_interrupted_download_leaves_no_file_and_frees_its_turn(client: Client, shapes: Dataset) -> None:
    for _ in range(2 * questions_file.AT_ONCE):
        answer = client.get(f"{TRAIN}questions.jsonl.gz")
        next(answer.streaming_content)
        answer._iterator.close()
        assert list(questions_file.folder().glob("*")) == []
        assert list(questions_file.folder().glob(".*")) == []


def test_slow_readers_do_not_block_others(client: Client, shapes: Dataset) -> None:
    slow = [client.get(f"{TRAIN}questions.jsonl.gz") for _ in range(4 * questions_file.AT_ONCE)]
    for answer in slow:
        next(answer.streaming_content)
    worked = max(work.busy for work in questions_file._works)
    time.sleep(2 * worked / questions_file.BUSY)
    assert len(lines_of(body(client.get(f"{TRAIN}questions.jsonl.gz")))) == 16
    for answer in slow:
        answer._iterator.close()
    assert not questions_file._works


def test_a_request_during_many_others_is_refused_with_a_time_to_wait(
    client: Client, shapes: Dataset, monkeypatch: Any
) -> None:
    monkeypatch.setattr(questions_file, "BUSY", -1.0)
    waiting = [client.get(f"{TRAIN}questions.jsonl.gz") for _ in range(questions_file.AT_ONCE)]
    for answer in waiting:
        next(answer.streaming_content)
    refused = client.get(f"{TRAIN}questions.jsonl.gz")
    assert (refused.status_code, refused["Retry-After"]) == (429, "10")
    for answer in waiting:
        answer._iterator.close()
    assert len(lines_of(body(client.get(f"{TRAIN}questions.jsonl.gz")))) == 16


def test_without_disk_space_a_file_is_sent_but_not_stored(client: Client, shapes: Dataset, monkeypatch: Any) -> None:
    monkeypatch.setattr(files, "disk_shortage", lambda: "Waiting for disk space.")
    for headers in ({}, {"Range": "bytes=10-29"}):
        answer = client.get(f"{TRAIN}questions.jsonl.gz", headers=headers)
        assert answer.status_code == 200
        assert len(lines_of(body(answer))) == 16
    assert list(questions_file.folder().glob("*")) == []


def test_unused_files_are_deleted(client: Client, shapes: Dataset) -> None:
    for name in ("train", "val"):
        body(client.get(f"{SPLITS}{name}/questions.jsonl.gz"))
    old, _ = sorted(questions_file.folder().glob("*"))
    os.utime(old, (time.time(), time.time() - 8 * 86_400))
    tidy_up()
    assert not old.exists()
    assert len(list(questions_file.folder().glob("*"))) == 1


# Steps ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["train", "part"])
def test_steps_are_those_of_the_programs_with_the_right_answer_at_the_end(
    client: Client, shapes: Dataset, part: Split, name: str
) -> None:
    questions = lines_of(body(client.get(f"{SPLITS}{name}/questions.jsonl.gz")))
    assert client.get(f"{SPLITS}{name}/").json()["steps_file"] == f"{SPLITS}{name}/steps.jsonl.gz"
    answer = client.get(f"{SPLITS}{name}/steps.jsonl.gz")
    assert answer["Content-Disposition"] == f'attachment; filename="shapes-{name}-steps.jsonl.gz"'
    lines = lines_of(body(answer))
    assert [line["question_id"] for line in lines] == [line["question_id"] for line in questions]
    for line, question in zip(lines, questions, strict=True):
        named = [{key: step[key] for key in ("function", "inputs", "value_inputs")} for step in line["steps"]]
        assert named == question["program"]
        assert str(line["steps"][-1]["result"]) == question["answer"]
        assert all(f". {step['function']}(" in line["prompt"] for step in line["steps"])


def test_steps_of_withheld_answers_are_only_for_the_owner(program: Client, stranger: Client, client: Client) -> None:
    for one in (stranger, client):
        answer = one.get(f"{TEST}steps.jsonl.gz")
        assert answer.status_code == 403
        assert answer.json()["error"]["message"] == (
            "The answers of shapes/test are withheld, and so are the steps that compute them."
        )
        assert "steps_file" not in one.get(TEST).json()
    assert all(line["steps"] for line in lines_of(body(program.get(f"{TEST}steps.jsonl.gz"))))
    assert program.get(TEST).json()["steps_file"] == f"{TEST}steps.jsonl.gz"


def test_questions_without_programs_have_no_steps(client: Client, shapes: Dataset) -> None:
    first = Question.objects.filter(split__name="train", position=0)
    first.update(program=None)
    lines = lines_of(body(client.get(f"{TRAIN}steps.jsonl.gz")))
    assert lines[0] == {"question_id": 0, "prompt": None, "steps": None}
    assert all(line["steps"] for line in lines[1:])


# Pictures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["train", "test", "part"])
def test_pictures_are_the_same_bytes_as_in_the_export(
    client: Client, shapes: Dataset, part: Split, tmp_path: Path, name: str
) -> None:
    answer = client.get(f"{SPLITS}{name}/images.tar")
    content = body(answer)
    assert content == (export_split(shapes, tmp_path, name) / "images.tar").read_bytes()
    assert answer["Content-Length"] == str(len(content))
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert archive.getnames()[0] == f"{name}_000000.png"


@given(first=st.integers(0, 100_000), count=st.integers(1, 50_000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_range_has_the_bytes_of_the_whole_file(client: Client, shapes: Dataset, first: int, count: int) -> None:
    whole = body(client.get(f"{TRAIN}images.tar"))
    answer = client.get(f"{TRAIN}images.tar", headers={"Range": f"bytes={first}-{first + count - 1}"})
    if first >= len(whole):
        assert (answer.status_code, answer.json()["error"]["code"]) == (416, "no_such_range")
    else:
        assert body(answer) == whole[first : first + count]


def test_hidden_pictures_are_in_no_file(client: Client, program: Client, shapes: Dataset) -> None:
    Dataset.objects.filter(pk=shapes.pk).update(images_visible=False)
    for address in (f"{TRAIN}images.tar", f"{TRAIN}scenes/0/image"):
        assert client.get(address).status_code == 404
        assert program.get(address).status_code == 200
    assert "images_file" not in client.get(TRAIN).json()


def test_a_picture_of_another_size_interrupts_the_download(client: Client, shapes: Dataset) -> None:
    stored = Scene.objects.get(split__name="train", position=2)
    whole = body(client.get(f"{TRAIN}images.tar"))
    kept = files.get(stored.image)
    files.put(stored.image, kept + b"more")
    try:
        answer = client.get(f"{TRAIN}images.tar")
        assert answer["Content-Length"] == str(len(whole))
        with pytest.raises(OSError, match=r"Expected .* bytes in the picture of shapes/train scene 2"):
            answer.getvalue()
    finally:
        files.put(stored.image, kept)


def test_single_pictures_are_the_stored_ones(client: Client, program: Client, shapes: Dataset) -> None:
    scene = Scene.objects.get(split__name="test", position=1)
    answer = client.get(f"{TEST}scenes/1/image")
    assert body(answer) == files.get(scene.image)
    assert answer["Cache-Control"] == "private, no-cache"
    assert client.get(f"{TEST}scenes/1/image", headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert client.get(f"{TEST}scenes/1/ids").status_code == 404
    assert body(program.get(f"{TEST}scenes/1/ids")) == files.get(scene.ids_image)


@pytest.mark.parametrize(
    "file", ["questions.jsonl.gz", "steps.jsonl.gz", "images.tar", "scenes/0/image", "scenes/0/ids"]
)
def test_strangers_get_no_file_of_a_private_dataset(
    private: Dataset, program: Client, stranger: Client, client: Client, file: str
) -> None:
    assert [one.get(TRAIN + file).status_code for one in (program, stranger, client)] == [200, 404, 404]


@pytest.mark.parametrize("file", ["questions.jsonl.gz", "steps.jsonl.gz", "images.tar"])
def test_a_split_that_is_not_complete_has_no_file(client: Client, shapes: Dataset, file: str) -> None:
    Split.objects.filter(name="val").update(state="making")
    assert client.get(f"{SPLITS}val/{file}").status_code == 404


def test_a_dataset_without_pictures_has_no_file_of_pictures(client: Client, shapes: Dataset) -> None:
    Dataset.objects.update(with_images=False)
    assert client.get(f"{TRAIN}images.tar").status_code == 404


@pytest.mark.full
def test_downloads_from_a_bucket_are_the_same(client: Client, shapes: Dataset, s3: Any, settings: Any) -> None:
    expected = body(client.get(f"{TRAIN}images.tar"))
    stored = {scene.image: files.get(scene.image) for scene in Scene.objects.filter(split__name="train")}
    settings.STORAGES = {**settings.STORAGES, "default": s3.storage}
    for name, content in stored.items():
        files.put(name, content)
    from webapp.api.files import images_tar

    images_tar._layout.cache_clear()
    assert set(files.sizes_below(f"datasets/{shapes.pk}/train/")) == set(stored)
    assert body(client.get(f"{TRAIN}images.tar")) == expected
