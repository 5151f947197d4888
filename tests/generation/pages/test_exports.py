"""Exports on pages: requests, builds in the background, lists, downloads, cancelling, and what others see of them."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from generation.exchange import export_jobs, export_requests
from generation.making import dataset_jobs
from generation.models import Dataset, Export, Heartbeat, Split, from_now
from generation.queue import leases
from generation.storage import files
from tests.generation import small
from tests.services import S3
from webapp.models import User

pytestmark = pytest.mark.django_db
PAGE = "/datasets/shapes/export/"
VERBS = ("cancel", "retry", "delete")


def text(response: Any) -> str:
    return response.content.decode()


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content)


def asked(shapes: Dataset, user: User | None = None, **changes: Any) -> Export:
    wanted: dict[str, Any] = {"name": "jsonl", "splits": [], "options": {}, **changes}
    return export_requests.ask(shapes, user, **wanted)


def built(shapes: Dataset, user: User | None = None, **changes: Any) -> Export:
    export = asked(shapes, user, **changes)
    assert export_jobs.RUNNER.take_turn() == 1
    export.refresh_from_db()
    assert export.state == "done", export.message
    return export


def names_in(content: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return archive.namelist()


@pytest.fixture
def member(as_stranger: Client) -> User:
    """Give the account that the stranger's browser is logged in with."""
    return User.objects.get(username="stranger")


# Requesting -------------------------------------------------------------------------------------------------


def test_a_member_requests_an_export_and_gets_one_file(shapes: Dataset, as_stranger: Client) -> None:
    form = {"format": "clevr", "splits": ["train", "val", "test"], "images": "on"}
    assert as_stranger.post(PAGE, form).status_code == 302
    assert "Waiting since" in text(as_stranger.get(PAGE))
    assert export_jobs.RUNNER.take_turn() == 1
    page = text(as_stranger.get(PAGE))
    assert "CLEVR, as released" in page and "kept until" in page
    export = Export.objects.get()
    response = as_stranger.get(f"{PAGE}{export.pk}/file.zip")
    assert response["Content-Disposition"] == 'attachment; filename="shapes-clevr.zip"'
    content = body(response)
    assert response["Content-Length"] == str(len(content)) == str(export.size)
    names = names_in(content)
    assert "shapes-clevr/CLEVR_v1.0/questions/CLEVR_val_questions.json" in names
    assert "shapes-clevr/horsesense/SHA256SUMS" in names
    assert not any("test" in name for name in names if "scenes" in name)


def test_a_visitor_sees_finished_exports_and_where_to_sign_in(shapes: Dataset, client: Client, owner: User) -> None:
    export = built(shapes, owner)
    page = text(client.get(PAGE))
    assert f"{PAGE}{export.pk}/file.zip" in page
    assert "/accounts/login/?next=" in page and "<form" not in page.split('id="build"')[1]
    assert client.post(PAGE, {"format": "jsonl"}).status_code == 302
    assert body(client.get(f"{PAGE}{export.pk}/file.zip"))


def test_the_same_export_is_built_once(shapes: Dataset, owner: User, member: User) -> None:
    first = built(shapes, owner)
    assert asked(shapes, member) == first
    assert asked(shapes, member, splits=["val"]) != first
    assert asked(shapes, member, images=False) != first


def test_bad_forms_are_refused_with_a_message(shapes: Dataset, as_stranger: Client) -> None:
    for form, said in (
        ({"format": "nonsense", "splits": ["val"]}, "nonsense"),
        ({"format": "jsonl", "splits": ["nothing"]}, "nothing"),
        ({"format": "jsonl"}, "Expected at least one split, got none."),
        ({"format": "coco", "splits": ["val"], "coco.masks": "square"}, "square"),
    ):
        response = as_stranger.post(PAGE, form)
        assert response.status_code == 400
        assert said in text(response)
    assert not Export.objects.exists()


def test_an_account_can_have_only_three_unfinished_exports(shapes: Dataset, as_stranger: Client, member: User) -> None:
    for split in ("train", "val", "test"):
        asked(shapes, member, splits=[split])
    response = as_stranger.post(PAGE, {"format": "coco", "splits": ["val"], "coco.masks": "lists"})
    assert response.status_code == 400
    assert "at most 3 unfinished exports of yours" in text(response)


def test_too_little_disk_space_is_reported_before_building(shapes: Dataset, as_stranger: Client, settings: Any) -> None:
    settings.DISK_RESERVE_GB = 10**9
    response = as_stranger.post(PAGE, {"format": "jsonl", "splits": ["val"]})
    assert response.status_code == 400
    assert "free to build the export" in text(response)


def test_an_incomplete_dataset_cannot_be_exported(shapes: Dataset, as_stranger: Client) -> None:
    Dataset.objects.filter(pk=shapes.pk).update(state="cancelled")
    assert "isn’t complete" in text(as_stranger.get(PAGE))
    assert as_stranger.post(PAGE, {"format": "jsonl", "splits": ["val"]}).status_code == 409


# Who sees what ----------------------------------------------------------------------------------------------


def test_strangers_get_the_public_view_even_if_they_ask_for_all(shapes: Dataset, as_stranger: Client) -> None:
    as_stranger.post(PAGE, {"format": "jsonl", "splits": ["test"], "view": "all"})
    assert Export.objects.get().view == "public"
    export_jobs.RUNNER.take_turn()
    content = body(as_stranger.get(f"{PAGE}{Export.objects.get().pk}/file.zip"))
    assert not any("scenes" in name for name in names_in(content))


def test_only_the_owner_gets_an_export_with_withheld_answers(
    shapes: Dataset, as_owner: Client, as_stranger: Client
) -> None:
    as_owner.post(PAGE, {"format": "jsonl", "splits": ["test"], "images": "on", "view": "all"})
    assert export_jobs.RUNNER.take_turn() == 1
    export = Export.objects.get()
    address = f"{PAGE}{export.pk}/file.zip"
    assert "shapes-test-jsonl/test/scenes.jsonl.gz" in names_in(body(as_owner.get(address)))
    for browser in (as_stranger, Client()):
        assert browser.get(address).status_code == 404
        assert address not in text(browser.get(PAGE))
        assert "withheld" not in text(browser.get(PAGE)).split('id="build"')[0]


def test_users_lose_their_exports_of_a_dataset_that_becomes_private(
    shapes: Dataset, as_stranger: Client, member: User
) -> None:
    export = built(shapes, member)
    address = f"{PAGE}{export.pk}/file.zip"
    assert as_stranger.get(address).status_code == 200
    Dataset.objects.filter(pk=shapes.pk).update(visibility="private")
    assert as_stranger.get(address).status_code == as_stranger.get(PAGE).status_code == 404


def test_pictures_that_are_hidden_later_cannot_be_downloaded_in_an_export(
    shapes: Dataset, as_stranger: Client, member: User
) -> None:
    with_images, without = built(shapes, member), built(shapes, member, images=False)
    Dataset.objects.filter(pk=shapes.pk).update(images_visible=False)
    assert as_stranger.get(f"{PAGE}{with_images.pk}/file.zip").status_code == 404
    assert as_stranger.get(f"{PAGE}{without.pk}/file.zip").status_code == 200


def test_an_export_of_a_deleted_split_is_only_for_the_owner(shapes: Dataset, member: User) -> None:
    export = built(shapes, member, splits=["val"])
    assert export_requests.may_have(member, export)
    assert not export_requests.may_have(member, export, splits=[])


def test_the_public_view_of_a_private_dataset_opens_when_it_becomes_public(
    private: Dataset, as_owner: Client, as_stranger: Client, owner: User
) -> None:
    export = built(Dataset.objects.get(pk=private.pk), owner)
    address = f"{PAGE}{export.pk}/file.zip"
    assert as_owner.get(address).status_code == 200
    assert as_stranger.get(address).status_code == 404
    Dataset.objects.filter(pk=private.pk).update(visibility="public")
    assert as_stranger.get(address).status_code == 200


@pytest.mark.parametrize("verb", VERBS)
def test_others_cannot_cancel_retry_or_delete_an_export(
    shapes: Dataset, as_stranger: Client, client: Client, owner: User, verb: str
) -> None:
    export = asked(shapes, owner)
    assert as_stranger.post(f"{PAGE}{export.pk}/{verb}/").status_code == 404
    assert client.post(f"{PAGE}{export.pk}/{verb}/").status_code == 302  # to sign in
    assert as_stranger.get(f"{PAGE}{export.pk}/{verb}/").status_code == 405
    assert Export.objects.get().state == "waiting"


def test_unknown_exports_get_404_and_wrong_verbs_get_405(shapes: Dataset, as_owner: Client) -> None:
    for address in ("9999/file.zip", "99999999999/file.zip", "x/file.zip"):
        assert as_owner.get(PAGE + address).status_code == 404
    assert as_owner.post(f"{PAGE}9999/cancel/").status_code == 404
    assert as_owner.post(f"{PAGE}1/file.zip").status_code == 405
    assert as_owner.put(PAGE).status_code == 405


# Cancelling, retrying, building and expiring ----------------------------------------------------------------


def test_the_owner_of_an_export_can_cancel_retry_and_delete_it(shapes: Dataset, as_owner: Client, owner: User) -> None:
    export = asked(shapes, owner)
    assert as_owner.post(f"{PAGE}{export.pk}/retry/").status_code == 409
    assert as_owner.post(f"{PAGE}{export.pk}/cancel/").status_code == 302
    assert export_jobs.RUNNER.take_turn() == 0
    assert as_owner.post(f"{PAGE}{export.pk}/cancel/").status_code == 409
    assert as_owner.post(f"{PAGE}{export.pk}/retry/").status_code == 302
    assert export_jobs.RUNNER.take_turn() == 1
    path = files.local_path(Export.objects.get().file)
    assert path is not None and path.exists()
    assert as_owner.post(f"{PAGE}{export.pk}/delete/").status_code == 302
    assert not Export.objects.exists() and not path.exists()


def test_only_the_owner_sees_why_an_export_failed(
    shapes: Dataset, as_owner: Client, as_stranger: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = asked(shapes, owner, name="coco", options={"category": "weight"})
    export_jobs.RUNNER.take_turn()
    assert Export.objects.get().state == "failed"
    assert "got &#x27;weight&#x27;" in text(as_owner.get(PAGE))
    assert "weight" not in text(as_stranger.get(PAGE))
    assert left_over(export) == []


def left_over(export: Export) -> list[Path]:
    return list(export_jobs.drafts_folder().glob(f".export-{export.pk}.*"))


def test_an_export_that_is_cancelled_while_it_is_built_leaves_no_files(
    shapes: Dataset, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = asked(shapes, owner)
    monkeypatch.setattr(export_jobs, "NOTED", 0.0)
    claimed = export_jobs.RUNNER.claim()
    assert claimed is not None
    monkeypatch.setattr(export_jobs.exports, "fill", cancelling(export_jobs.exports.fill, export))
    export_jobs.RUNNER.run(claimed)
    export.refresh_from_db()
    assert (export.state, export.file) == ("cancelled", "")
    assert left_over(export) == []


def cancelling(fill: Any, export: Export) -> Any:
    def cancel_and_fill(*args: Any, **options: Any) -> None:
        assert export_jobs.cancel(export)
        fill(*args, **options)

    return cancel_and_fill


def test_an_export_of_a_killed_process_is_built_again(
    shapes: Dataset, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = asked(shapes, owner)
    claimed = export_jobs.RUNNER.claim()
    assert claimed is not None
    draft = export_jobs.drafts_folder() / f".export-{export.pk}.0123abcd"
    draft.mkdir(parents=True)
    (draft / "half").write_bytes(b"x")
    files.put("exports/1/late.zip", b"never told of")
    Export.objects.filter(pk=export.pk).update(lease=from_now(-1), worker="elsewhere:1", file="exports/1/late.zip")
    export_jobs.RUNNER.sweep()
    assert Export.objects.get().state == "waiting"
    assert "stopped answering" in Export.objects.get().message
    assert export_jobs.RUNNER.take_turn() == 1
    assert Export.objects.get().state == "done"
    late = files.local_path("exports/1/late.zip")
    assert not draft.exists() and late is not None and not late.exists()


def test_an_export_fails_after_three_tries(shapes: Dataset, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(shapes, owner)
    monkeypatch.setattr(export_jobs.exports, "fill", lambda *args, **options: 1 / 0)
    assert [export_jobs.RUNNER.take_turn() for _ in range(4)] == [1, 1, 1, 0]
    export = Export.objects.get()
    assert export.state == "failed" and "tried 3 times" in export.message
    assert export.expires is not None


def test_an_export_waits_while_the_disk_is_full(shapes: Dataset, owner: User, settings: Any) -> None:
    asked(shapes, owner)
    settings.DISK_RESERVE_GB = 10**9
    assert export_jobs.RUNNER.take_turn() == 0
    assert "Waiting for disk space" in Export.objects.get().message


def test_one_export_is_built_at_a_time(shapes: Dataset, owner: User) -> None:
    asked(shapes, owner, splits=["train"])
    asked(shapes, owner, splits=["val"])
    assert export_jobs.RUNNER.claim() is not None
    assert export_jobs.RUNNER.claim() is None


def test_an_export_expires_after_seven_days(shapes: Dataset, owner: User, settings: Any) -> None:
    export = built(shapes, owner)
    path = files.local_path(export.file)
    days = (export.expires - export.finished).total_seconds() / 86_400 if export.expires and export.finished else 0
    assert round(days) == settings.EXPORT_DAYS == 7
    assert export_jobs.expire() == 0
    Export.objects.update(expires=from_now(-1))
    assert export_jobs.expire() == 1
    assert path is not None and not path.exists() and not Export.objects.exists()


def test_an_export_has_the_same_bytes_every_time(shapes: Dataset, owner: User) -> None:
    contents = []
    for _ in range(2):
        export = built(shapes, owner, name="clevr")
        contents.append(files.get(export.file))
        export_jobs.delete(export)
    assert contents[0] == contents[1]


def test_a_deleted_dataset_takes_its_exports_with_it(owner: User) -> None:
    dataset = small.made("brief", with_images=False, splits={"val": {"scenes": 1}})
    export = built(dataset, owner)
    path = files.local_path(export.file)
    assert path is not None and path.exists()
    dataset_jobs.delete(dataset)
    dataset_jobs.work(dataset=dataset)
    assert not Dataset.objects.filter(pk=dataset.pk).exists() and not path.exists()


# The page ---------------------------------------------------------------------------------------------------


def test_progress_is_a_part_of_the_page(shapes: Dataset, as_owner: Client, owner: User) -> None:
    export = asked(shapes, owner)
    leases.take(export)
    Export.objects.filter(pk=export.pk).update(done=3)
    part, page = text(as_owner.get(f"{PAGE}progress/")), text(as_owner.get(PAGE))
    assert '<progress max="100" value="37"' in part
    assert f'data-progress="{PAGE}progress/"' in page
    assert part.count("<li ") == page.split('id="build"')[0].split('id="making"')[1].count("<li ") == 1


def test_the_page_says_how_to_start_a_background_process_if_none_runs(
    shapes: Dataset, as_owner: Client, as_stranger: Client, owner: User
) -> None:
    asked(shapes, owner)
    Heartbeat.objects.all().delete()
    assert "python manage.py process default" in text(as_owner.get(PAGE))
    Heartbeat.objects.note("worker", host="h", pid=1, queues="default")
    assert "No background process" not in text(as_owner.get(PAGE))


def test_the_list_needs_few_queries_for_many_exports(
    shapes: Dataset, as_owner: Client, owner: User, django_assert_max_num_queries: Any
) -> None:
    built(shapes, owner)
    for split in ("train", "val", "test"):
        asked(shapes, owner, splits=[split])
    as_owner.get(PAGE)
    with django_assert_max_num_queries(12):
        as_owner.get(PAGE)


def test_the_overview_links_to_the_exports(shapes: Dataset, client: Client) -> None:
    assert f'href="{PAGE}"' in text(client.get("/datasets/shapes/"))


def test_the_proxy_sends_the_file_if_the_setting_says_so(
    shapes: Dataset, client: Client, owner: User, settings: Any
) -> None:
    export = built(shapes, owner)
    settings.PROXY_SENDS_FILES = True
    response = client.get(f"{PAGE}{export.pk}/file.zip")
    assert response["X-Accel-Redirect"] == f"/{export.file}"
    assert response["ETag"] and response["Content-Disposition"].startswith("attachment")


def test_an_export_without_its_file_gets_404(shapes: Dataset, client: Client, owner: User) -> None:
    export = built(shapes, owner)
    files.drop(export.file)
    assert client.get(f"{PAGE}{export.pk}/file.zip").status_code == 404


@pytest.mark.slow
def test_an_export_is_built_and_sent_from_a_bucket(
    s3: S3, shapes: Dataset, owner: User, client: Client, settings: Any
) -> None:
    Split.objects.filter(dataset=shapes).exclude(name="val").delete()
    stored = files.get(shapes.splits.get().scene_set.get(position=0).image)
    home = index_folder(shapes)
    index = {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    settings.STORAGES = {**settings.STORAGES, "default": s3.storage}
    for scene in shapes.splits.get().scene_set.all():
        files.put(scene.image, stored)
        files.put(scene.ids_image, stored)
    for name, content in index.items():
        files.put(f"index/{shapes.splits.get().index_digest}/{name}", content)
    export = built(shapes, owner)
    content = body(client.get(f"{PAGE}{export.pk}/file.zip"))
    assert "shapes-jsonl/val/images.tar" in names_in(content)
    export_jobs.delete(export)
    assert client.get(f"{PAGE}{export.pk}/file.zip").status_code == 404


def index_folder(shapes: Dataset) -> Path:
    folder = files.local_path(f"index/{shapes.splits.get().index_digest}")
    assert folder is not None
    return folder


def test_options_of_the_chosen_format_are_kept(shapes: Dataset, as_stranger: Client) -> None:
    form = {"format": "coco", "splits": ["val"], "coco.masks": "lists", "coco.category": "shape"}
    assert as_stranger.post(PAGE, form).status_code == 302
    assert json.loads(Export.objects.get().options) == {"category": "shape", "masks": "lists"}
    assert Export.objects.get().images is False
