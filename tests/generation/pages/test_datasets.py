"""The list of datasets, and the overview of one."""

import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from generation.engine.errors import BadSpec
from generation.exchange.exports import StoredDataset, Viewer
from generation.making import dataset_jobs
from generation.models import Dataset, Heartbeat, Job, SpecFile, Split
from generation.specs import loading
from generation.splits.withheld_answers import open_answers
from tests.generation import small
from tests.worlds.clevr.formats.releases import scenes_of, write
from webapp.models import User

LIST, OVERVIEW = "/datasets/", "/datasets/shapes/"


def text_of(response):
    return response.content.decode()


# The list ------------------------------------------------------------------------------------------------


def test_list_shows_a_card_with_pictures_counts_and_splits(client, shapes):
    page = text_of(client.get(LIST))
    assert "Some shapes" in page
    assert "<b>8</b> scenes, <b>32</b> questions" in page
    assert page.count("<img") == 4
    assert 'href="/datasets/shapes/train/"' in page


def test_empty_list_says_how_to_make_one(client, private):
    response = client.get(LIST)
    assert response.status_code == 200
    assert "manage.py generate clevr-mini" in text_of(response)


@pytest.mark.parametrize("visibility", ["private", "link"])
def test_list_shows_datasets_that_are_not_public_only_to_their_owner(client, as_owner, as_stranger, shapes, visibility):
    Dataset.objects.filter(pk=shapes.pk).update(visibility=visibility)
    shown = ["Some shapes" in text_of(who.get(LIST)) for who in (client, as_stranger, as_owner)]
    assert shown == [False, False, True]


def test_list_refuses_other_verbs(client, db):
    assert client.post(LIST).status_code == 405


def test_list_needs_five_queries_for_several_datasets(client, shapes, django_assert_num_queries):
    small.begun("more")
    small.begun("still-more")
    with django_assert_num_queries(5):
        client.get(LIST)


def test_a_dataset_of_an_unknown_world_is_still_shown(client, shapes):
    Dataset.objects.filter(pk=shapes.pk).update(world="vanished")
    for address in (LIST, OVERVIEW):
        response = client.get(address)
        assert response.status_code == 200
        assert "vanished" in text_of(response)
    assert "does not give the same dataset here: world: Expected one of" in text_of(response)


# The overview ----------------------------------------------------------------------------------------------


def test_overview_shows_splits_hashes_and_spec(client, shapes):
    page = text_of(client.get(OVERVIEW))
    for split in shapes.splits.all():
        assert split.fingerprint in page
    assert shapes.fingerprint in page
    assert "relation_threshold" in page
    assert page.count("<h1") == 1
    assert ">withheld<" in page.replace("\n", "")


@pytest.mark.parametrize("who", ["client", "as_stranger"])
@pytest.mark.parametrize("address", [OVERVIEW, OVERVIEW + "spec.json", OVERVIEW + "spec.zip"])
def test_strangers_get_404_for_a_private_dataset(request, private, who, address):
    assert request.getfixturevalue(who).get(address).status_code == 404


def test_everybody_with_the_address_can_open_a_link_only_dataset(client, shapes):
    Dataset.objects.filter(pk=shapes.pk).update(visibility="link")
    assert client.get(OVERVIEW).status_code == 200


def test_a_dataset_that_is_being_deleted_gets_404(client, shapes):
    Dataset.objects.filter(pk=shapes.pk).update(state=Dataset.State.DELETING)
    assert client.get(OVERVIEW).status_code == 404


@pytest.mark.parametrize("address", ["/datasets/nothing/", OVERVIEW + "?split=nothing", "/datasets/UP%00/"])
def test_an_unknown_dataset_or_split_gets_404(client, shapes, address):
    assert client.get(address).status_code == 404


def test_overview_refuses_other_verbs(client, shapes):
    for address in (OVERVIEW, OVERVIEW + "spec.json", OVERVIEW + "spec.zip"):
        assert client.post(address).status_code == 405


def test_overview_needs_few_queries(client, shapes, django_assert_max_num_queries):
    with django_assert_max_num_queries(7):  # one is for people's results, one for fresh twins
        client.get(OVERVIEW)


# Make this again ---------------------------------------------------------------------------------------------


def test_recipe_names_the_release_and_a_command(client, shapes):
    page = text_of(client.get(OVERVIEW))
    assert f"Install {shapes.made_by}, save" in page
    assert "python manage.py generate shapes.json --name shapes-again" in page
    assert "The answers of test are withheld. Without the secret" in page
    assert small.SECRET not in page


def test_owner_sees_the_secret_in_the_command(as_owner, shapes):
    assert f"--secret test={small.SECRET}" in text_of(as_owner.get(OVERVIEW))


def test_everybody_sees_the_secret_once_answers_are_open(client, shapes):
    Split.objects.filter(dataset=shapes, name="test").update(withheld=False)
    assert f"--secret test={small.SECRET}" in text_of(client.get(OVERVIEW))


def test_recipe_of_another_engine_names_the_release_to_install(client, shapes):
    Dataset.objects.filter(pk=shapes.pk).update(engine_version="0.9", release="0.0.7")
    page = text_of(client.get(OVERVIEW))
    assert "made by release 0.0.7 (engine 0.9)" in page
    assert "Install a release with engine 0.9 to make it again" in page


def test_spec_downloads_as_it_was_stored(client, shapes):
    response = client.get(OVERVIEW + "spec.json")
    assert json.loads(response.content) == shapes.spec_data
    assert 'filename="shapes.json"' in response["Content-Disposition"]


def test_spec_with_files_downloads_as_one_zip(client, shapes):
    SpecFile.objects.create(dataset=shapes, digest="ab" * 32, content=b"[]")
    assert "shapes-spec.zip" in text_of(client.get(OVERVIEW))
    archive = zipfile.ZipFile(io.BytesIO(client.get(OVERVIEW + "spec.zip").content))
    assert sorted(archive.namelist()) == ["files/" + "ab" * 32, "spec.json"]


# Being made --------------------------------------------------------------------------------------------------


def test_a_waiting_dataset_says_since_when_and_how_to_start_a_background_process(client, as_owner, owner, shapes):
    dataset = small.begun("waiting", owner=owner)
    page = text_of(as_owner.get(dataset.get_absolute_url()))
    assert "No background process is running" in page
    assert "Waiting since" in page
    assert "manage.py process generation" in page
    assert "have to start one" in text_of(client.get(dataset.get_absolute_url()))


def test_a_live_background_process_ends_the_warning(client, shapes):
    dataset = small.begun("waiting")
    Heartbeat.objects.create(name="w", host="h", pid=1, queues="generation")
    assert "No background process" not in text_of(client.get(dataset.get_absolute_url()))
    Heartbeat.objects.update(seen=timezone.now() - timedelta(minutes=5))
    assert "No background process" in text_of(client.get(dataset.get_absolute_url()))


def test_failed_jobs_show_their_message_to_the_owner_only(client, as_owner, owner, shapes):
    dataset = small.begun("broken", owner=owner)
    Job.objects.filter(dataset=dataset).update(state="failed", message="Expected room, got none.", attempts=3)
    Dataset.objects.filter(pk=dataset.pk).update(state="failed", error="A job failed.")
    page = text_of(as_owner.get(dataset.get_absolute_url()))
    assert "Expected room, got none." in page
    assert "python manage.py generate broken.json --name broken --resume" in page
    page = text_of(client.get(dataset.get_absolute_url()))
    assert "Only the owner of the dataset sees the reason." in page
    assert "A job failed." not in page
    assert "Expected room" not in page


def test_everybody_sees_why_making_failed_if_nothing_is_withheld(client, shapes):
    dataset = small.begun("broken", splits={"train": {"scenes": 4}})
    Dataset.objects.filter(pk=dataset.pk).update(state="failed", error="A job failed.")
    assert "A job failed." in text_of(client.get(dataset.get_absolute_url()))


def test_overview_of_many_failures_needs_few_queries(as_owner, owner, django_assert_max_num_queries):
    dataset = small.begun("broken", owner=owner, questions={"per_scene": 4, "window": 1})
    Job.objects.filter(dataset=dataset).update(state="failed", message="no")
    with django_assert_max_num_queries(13):  # one of them is for the link to studies
        as_owner.get(dataset.get_absolute_url())


def test_head_works_like_get(client, shapes):
    assert Client().head(OVERVIEW).status_code == 200


def test_strangers_get_no_file_of_scenes_whose_answers_are_withheld(client, db, tmp_path):
    theirs = write(tmp_path / "theirs.json", scenes_of("val", 2))
    spec = {**small.SPEC, "splits": {"val": {"scenes": 2, "withheld": True}}, "scenes_from": theirs.name}
    begun = loading.gather_spec(spec, name="asked", folder=tmp_path)
    (digest,) = begun.files
    asked = small.made("asked", with_images=False, **begun.data, files=begun.files)
    staff = Client()
    staff.force_login(User.objects.create_user("kim", is_staff=True))
    found = {}
    for name, browser in (("stranger", client), ("staff", staff)):
        archive = zipfile.ZipFile(io.BytesIO(browser.get("/datasets/asked/spec.zip").content))
        found[name] = archive.namelist()
    assert found == {"stranger": ["spec.json"], "staff": ["spec.json", f"files/{digest}"]}
    assert (list(StoredDataset(asked).files), list(StoredDataset(asked, viewer=Viewer(True)).files)) == ([], [digest])
    assert open_answers(asked.splits.get())
    assert f"files/{digest}" in zipfile.ZipFile(io.BytesIO(client.get("/datasets/asked/spec.zip").content)).namelist()


def test_the_downloaded_zip_makes_the_same_dataset(client, shapes, tmp_path):
    family = {
        "params": [
            {"type": kind, "name": f"<{letter}>"}
            for kind, letter in (("Size", "Z"), ("Color", "C"), ("Material", "M"), ("Shape", "S"))
        ],
        "text": ["How many <Z> <C> <M> <S>s are there?"],
        "nodes": [
            {"type": "scene", "inputs": []},
            {"type": "filter_count", "inputs": [0], "side_inputs": ["<Z>", "<C>", "<M>", "<S>"]},
        ],
        "constraints": [],
    }
    (tmp_path / "mine.json").write_text(json.dumps([family]))
    spec = {
        **small.SPEC,
        "splits": {"train": {"scenes": 2}},
        "questions": {"per_scene": 1, "families": "mine.json"},
    }
    begun = loading.gather_spec(spec, name="mine", folder=tmp_path)
    mine = dataset_jobs.start(begun.data, slug="mine", files=begun.files, visibility="public", images=False)
    archive = zipfile.ZipFile(io.BytesIO(client.get("/datasets/mine/spec.zip").content))
    archive.extractall(tmp_path / "again")
    source = loading.load(str(tmp_path / "again" / "spec.json"))
    assert source.data == mine.spec_data
    assert source.files == {file.digest: bytes(file.content) for file in mine.files.all()}
    (path,) = (tmp_path / "again" / "files").iterdir()
    path.write_bytes(b"changed")
    with pytest.raises(BadSpec, match="SHA-256"):
        loading.load(str(tmp_path / "again" / "spec.json"))
