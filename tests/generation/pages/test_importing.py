"""Pages of imports: uploads, progress, reports of missing data and wrong answers, and what strangers see."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from generation.browsing.pictures import version_of
from generation.engine.reading.dataset_reader import find_reader
from generation.making import dataset_jobs, import_sandbox, imports
from generation.models import Dataset, Import, ImportedSplit, Job, Question, Scene
from generation.queue.runner import Runner
from generation.storage import files
from tests.clients import client_of
from tests.generation.complete_datasets import finish
from tests.generation.conftest import Measured
from tests.proof import sample
from tests.worlds.clevr.formats import releases
from tests.worlds.clevr.formats.releases import questions_of, release, scenes_of, write
from webapp.models import User
from webapp.running.housekeeping import tidy_up

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_here")]
NEW = "/datasets/new/import/"


def text(response: Any) -> str:
    return response.content.decode()


def sent(name: str, data: Any) -> SimpleUploadedFile:
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    return SimpleUploadedFile(name, content, content_type="application/json")


@pytest.fixture(autouse=True)
def nothing_else(request: pytest.FixtureRequest, db: None) -> None:
    """Delete all datasets for the duration of a test, unless the test uses the shared dataset."""
    if "shapes" not in request.fixturenames:
        Dataset.objects.all().delete()


def form(*uploads: SimpleUploadedFile, **changed: str) -> dict[str, Any]:
    return {"format": "clevr", "slug": "theirs", "visibility": "private", "files": uploads, **changed}


def imported(root: Path, **wanted: Any) -> Dataset:
    found = find_reader("clevr").find([root])
    return finish(imports.begin(found, imports.ImportRequest(slug="theirs", format="clevr", **wanted)))


# Sending files ---------------------------------------------------------------------------------------------


def test_uploaded_files_are_read_in_the_background(page: Client, researcher: User) -> None:
    answer = page.post(NEW, form(sent("s.json", scenes_of("val")), sent("q.json", questions_of("val")), licence="CC0"))
    run = Import.objects.get()
    assert answer.status_code == 302 and answer["Location"] == f"{NEW}{run.pk}/"
    state = text(page.get(answer["Location"]))
    assert "This dataset is being made" in state and "read" in state
    dataset = Dataset.objects.get()
    assert (dataset.owner, dataset.licence, dataset.visibility, dataset.images_visible) == (
        researcher, "CC0", "private", False,
    )  # fmt: skip
    dataset_jobs.work(dataset=dataset)
    done = page.get(answer["Location"])
    assert done.status_code == 302 and done["Location"] == "/datasets/theirs/"
    folder = files.local_path(run.stored)
    assert folder is not None and not folder.exists()
    assert [split.questions for split in dataset.splits.all()] == [12]


def test_a_broken_record_is_named_on_the_page_of_the_import(page: Client) -> None:
    data = questions_of("val")
    data["questions"][7]["answer"] = "mauve"
    page.post(NEW, form(sent("q.json", data)))
    run = Import.objects.get()
    dataset_jobs.work(dataset=run.dataset)
    assert not Dataset.objects.exists()
    state = text(page.get(run.get_absolute_url()))
    assert "questions[7], answer" in state and "mauve" in state and "Nothing was kept" in state
    assert "nothing was kept" in text(page.get(NEW))
    folder = files.local_path(run.stored)
    assert folder is not None and not folder.exists()


def test_the_page_of_the_dataset_says_which_answers_were_normalised(page: Client) -> None:
    data = questions_of("val")
    words = {"0": "zero", "1": "1.0", "2": " 2", "3": "Three", "yes": "Yes", "no": "NO.", "gray": "grey"}
    before = [record["answer"] for record in data["questions"]]
    for record in data["questions"]:
        record["answer"] = words.get(record["answer"], record["answer"].upper())
    page.post(NEW, form(sent("s.json", scenes_of("val")), sent("q.json", data)))
    dataset = Dataset.objects.get()
    dataset_jobs.work(dataset=dataset)
    assert list(Question.objects.order_by("position").values_list("answer", flat=True)) == before
    assert ImportedSplit.objects.get().report_json["faults"] == 0
    assert "Val: 12 answers were normalised: `" in text(page.get("/datasets/theirs/"))


@pytest.mark.parametrize(
    ("upload", "changed", "message"),
    [
        (("q.json", {"questions": []}), {"slug": "new"}, "Expected another name"),
        (("q.json", {"questions": []}), {"slug": "Not A Slug"}, "small letters"),
        (("q.json", {"questions": []}), {"format": "nonsense"}, "Select a valid choice"),
        (("q.json", {"questions": []}), {"visibility": "all"}, "Select a valid choice"),
        (None, {}, "This field is required"),
    ],
)
def test_invalid_forms_are_refused_at_once_with_a_message(
    page: Client, upload: Any, changed: dict[str, str], message: str
) -> None:
    before = kept_now()
    answer = page.post(NEW, form(*([sent(*upload)] if upload else []), **changed))
    assert answer.status_code == 400
    assert message in text(answer)
    assert kept_now() == before and not Import.objects.exists()


def kept_now() -> tuple[int, set[str]]:
    """Return the number of datasets, and the names of what is stored in the folder of imports."""
    folder = files.local_path("imports")
    assert folder is not None
    return Dataset.objects.count(), {path.name for path in folder.iterdir()} if folder.exists() else set()


DEEP = '{"questions": [' + "[" * 200_000
HOSTILE = {
    "no json": (b"no json", "Expected JSON"),
    "nothing of use": (b'{"nothing": []}', "Expected a file with a list of scenes or questions"),
    "200 KB of brackets": (b"[" * 200_000, "Expected at most 64 lists and objects inside one another"),
    "brackets in a record": (DEEP.encode(), "Expected at most 64 lists and objects inside one another"),
    "brackets before the records": (b'{"a":' * 30_000, "Expected at most 64 lists and objects inside one another"),
    "a number of 100,000 digits": (b'{"info": ' + b"9" * 100_000, "Expected numbers of at most 100 characters"),
    "a number in a record": (b'{"questions": [{"image_index": 1' + b"0" * 100_000, "Expected numbers of at most 100"),
    "NaN": (b'{"questions": [{"image_index": NaN}]}', "questions[0]: Expected JSON, got NaN: NaN and Infinity are no"),
    "a long name": (b'{"questions": [{"' + b"x" * 900_000 + b'": 1}]}', "Expected a whole number, got nothing"),
    "empty lists": (b'{"questions": [' + b"[],".ljust(3) * 300_000 + b"[]]}", "questions[0]"),
    "many names": (
        b'{"questions": [{' + b",".join(b'"%d":0' % number for number in range(90_000)) + b"}]}",
        "Expected a whole number, got nothing",
    ),
}


@pytest.mark.parametrize("name", sample(HOSTILE, gate=2))
def test_a_child_with_limits_refuses_a_hostile_file_with_one_message(
    page: Client, measured: Measured, name: str
) -> None:
    content, message = HOSTILE[name]
    assert page.post(NEW, form(sent("q.json", content))).status_code == 302
    run = Import.objects.get()
    dataset_jobs.work(dataset=run.dataset)
    run.refresh_from_db()
    assert message in run.message
    assert len(run.message) < 400
    assert not Dataset.objects.exists()
    folder = files.local_path(run.stored)
    assert folder is not None and not folder.exists()
    assert all(megabytes < 500 and seconds < 10 for megabytes, seconds in measured())


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGXCPU, signal.SIGABRT])
def test_a_file_whose_reader_dies_by_a_signal_is_refused_at_once(
    page: Client, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(import_sandbox, "CHILD", "tests.generation.dies")
    monkeypatch.setenv("LANG", str(int(number)))  # one of the few environment variables that a child gets
    page.post(NEW, form(sent("q.json", questions_of("val"))))
    run = Import.objects.get()
    dataset_jobs.work(dataset=run.dataset)
    run.refresh_from_db()
    assert "Expected files that can be read within 8 seconds" in run.message
    assert not Dataset.objects.exists() and not Job.objects.exists()


def test_an_import_that_is_refused_before_the_redirect_has_its_page(
    page: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runner, "wake", lambda self: dataset_jobs.work(dataset=Dataset.objects.get()))
    answer = page.post(NEW, form(sent("q.json", b"no json")))
    assert answer.status_code == 302
    assert "Expected JSON" in text(page.get(answer["Location"]))


def test_files_of_a_killed_upload_are_deleted_after_a_day(page: Client) -> None:
    page.post(NEW, form(sent("q.json", questions_of("val"))))
    waiting = files.local_path(Import.objects.get().stored)
    assert waiting is not None
    killed, young = waiting.with_name("killed"), waiting.with_name("young")
    for folder in (killed, young):
        folder.mkdir()
        (folder / "q.json").write_bytes(b"half")
    for folder in (waiting, killed):
        os.utime(folder, (0, 0))
    tidy_up()
    assert (waiting.exists(), killed.exists(), young.exists()) == (True, False, True)


def test_two_files_with_the_same_name_are_refused(page: Client) -> None:
    answer = page.post(NEW, form(sent("a.json", scenes_of("val")), sent("a.json", questions_of("val"))))
    assert answer.status_code == 400 and "different names" in text(answer)


def test_only_researchers_can_import(client: Client, as_stranger: Client) -> None:
    assert client.get(NEW)["Location"].startswith("/accounts/login/")
    assert as_stranger.get(NEW).status_code == 403
    assert as_stranger.post(NEW, {}).status_code == 403
    assert not Import.objects.exists()


def test_others_see_nothing_of_an_import(page: Client, as_stranger: Client, client: Client) -> None:
    page.post(NEW, form(sent("q.json", questions_of("val"))))
    address = Import.objects.get().get_absolute_url()
    assert as_stranger.get(address).status_code == 404
    assert client.get(address)["Location"].startswith("/accounts/login/")
    assert page.get(f"{NEW}999999/").status_code == 404
    assert page.post(address).status_code == 405
    assert page.put(NEW).status_code == 405


def test_the_page_for_a_new_dataset_links_to_imports(page: Client) -> None:
    assert f'href="{NEW}"' in text(page.get("/datasets/new/"))


# What pages say --------------------------------------------------------------------------------------------


@pytest.fixture
def theirs(tmp_path: Path, owner: User) -> Dataset:
    """Give an import with gaps: a test split that has only texts, a wrong answer, and a missing picture."""
    root = release(tmp_path / "r", ("val", "test"))
    data = questions_of("val")
    data["questions"][2]["answer"] = "9"
    write(root / "questions" / "CLEVR_val_questions.json", data)
    (root / "images" / "val" / releases.image_name("val", 1)).unlink()
    dataset = imported(root, owner=owner, visibility="public", images="linked")
    files.drop_folder(f"datasets/{dataset.pk}")  # another test's small pictures; only its rows were rolled back
    return dataset


def test_the_overview_lists_the_findings_of_the_import(theirs: Dataset, client: Client) -> None:
    shown = text(client.get("/datasets/theirs/"))
    assert "Imported" in shown and ">not stated</dd>" in shown
    assert 'href="/datasets/theirs/val/q/2/"' in shown and "published answer <b>9</b>" in shown
    assert "Test was published without scenes, answers or programs" in shown
    assert "import clevr PATH --name theirs-again" in shown
    assert shown.count("<td>not published</td>") == 1 and "The files state this licence" in shown
    assert theirs.images_folder not in shown


def test_the_owner_is_asked_for_the_licence_and_who_sees_the_pictures(theirs: Dataset, owner: User) -> None:
    page = client_of(owner)
    assert "The licence is not stated. Only you and staff see the pictures." in text(
        page.get("/datasets/theirs/")
    ).replace("\n", " ")
    edit = page.get("/datasets/theirs/edit/")
    assert 'name="images_visible"' in text(edit)
    fields = {"title": "T", "visibility": "public", "licence": "CC BY 4.0", "images_visible": "on"}
    assert page.post("/datasets/theirs/edit/", fields).status_code == 302
    theirs.refresh_from_db()
    assert (theirs.licence, theirs.images_visible) == ("CC BY 4.0", True)


def test_the_form_of_a_generated_dataset_does_not_ask_who_sees_the_pictures(as_owner: Client, shapes: Dataset) -> None:
    assert 'name="images_visible"' not in text(as_owner.get(f"/datasets/{shapes.slug}/edit/"))


@pytest.mark.parametrize("address", ["val/", "test/", "val/q/2/", "test/q/0/", "", "val/q/4/"])
def test_pages_of_an_import_can_be_opened(theirs: Dataset, owner: User, address: str) -> None:
    for page in (Client(), client_of(owner)):
        assert page.get(f"/datasets/theirs/{address}").status_code == 200


def test_a_question_says_what_was_not_published_with_it(theirs: Dataset, client: Client) -> None:
    alone = text(client.get("/datasets/theirs/test/q/0/"))
    assert "was published without answer, program or scene, so there is no program to play" in alone
    assert "was published without" not in text(client.get("/datasets/theirs/val/q/0/"))
    assert "published without scenes, answers or programs" in text(client.get("/datasets/theirs/test/"))


def picture(dataset: Dataset, position: int, *, small: bool = False) -> str:
    place = f"/datasets/{dataset.slug}/val/scene/{position}"
    version = version_of(dataset)
    return f"{place}/small/{version}.webp" if small else f"{place}/{version}.png"


@pytest.mark.parametrize("small", [False, True])
def test_linked_pictures_are_served_to_those_who_may_see_them(theirs: Dataset, owner: User, small: bool) -> None:
    address = picture(theirs, 0, small=small)
    shown = client_of(owner).get(address)
    assert shown.status_code == 200 and "private" in shown["Cache-Control"]
    assert Client().get(address).status_code == 404
    Dataset.objects.filter(pk=theirs.pk).update(images_visible=True)
    assert Client().get(address).status_code == 200


def test_pages_show_strangers_no_hidden_pictures(theirs: Dataset, owner: User) -> None:
    for address in ("", "val/", "val/q/0/"):
        assert "/scene/" not in text(Client().get(f"/datasets/theirs/{address}"))
        assert "/scene/" in text(client_of(owner).get(f"/datasets/theirs/{address}"))
    assert "Only the owner of the dataset and staff see its pictures" in text(Client().get("/datasets/theirs/val/q/0/"))


def test_a_question_says_that_its_picture_was_not_imported(theirs: Dataset, owner: User) -> None:
    page = client_of(owner)
    assert "was not imported" in text(page.get("/datasets/theirs/val/q/4/"))
    assert page.get(picture(theirs, 1)).status_code == 404


def test_a_linked_picture_that_was_deleted_gets_404(theirs: Dataset, owner: User) -> None:
    Path(theirs.images_folder, Scene.objects.get(split__dataset=theirs, split__name="val", position=0).linked).unlink()
    for small in (False, True):
        assert client_of(owner).get(picture(theirs, 0, small=small)).status_code == 404


@pytest.mark.parametrize("name", ["../../../etc/passwd", "/etc/passwd", "val/../../x.png"])
def test_a_link_never_leads_out_of_its_folder(theirs: Dataset, owner: User, name: str) -> None:
    Scene.objects.filter(split__dataset=theirs, split__name="val", position=0).update(linked=name)
    for small in (False, True):
        assert client_of(owner).get(picture(theirs, 0, small=small)).status_code == 404


def test_deleting_an_import_keeps_the_linked_pictures(theirs: Dataset, owner: User) -> None:
    client_of(owner).get(picture(theirs, 0, small=True))
    dataset_jobs.delete(theirs)
    dataset_jobs.work(dataset=theirs)
    assert not Dataset.objects.filter(slug="theirs").exists()
    assert len(list(Path(theirs.images_folder).rglob("*.png"))) == 5


@pytest.mark.parametrize("part", ["scenes", "questions", "images"])
def test_pages_of_a_partial_import_can_be_opened(tmp_path: Path, part: str) -> None:
    root = release(tmp_path / "r", ("val",))
    dataset = imported(root / part, visibility="public", images="linked", images_visible=True)
    for address in ("", "val/", *(["val/q/0/"] if part == "questions" else [])):
        assert Client().get(f"/datasets/{dataset.slug}/{address}").status_code == 200, address
