"""Files, preview, estimate and quota on the page for a new dataset."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from generation.durations import duration
from generation.models import Dataset, PreviewTurn, Quota, Upload, from_now
from generation.specs import estimates, preview_process, previews
from tests.generation import small
from tests.generation.pages.drafting import NEW, TINY, json_on, sent, text, times_said
from webapp.models import User
from webapp.running.housekeeping import tidy_up

pytestmark = pytest.mark.django_db


# Files -----------------------------------------------------------------------------------------------------


def family_file() -> SimpleUploadedFile:
    from importlib import resources

    folder = resources.files("generation.engine.worlds.clevr") / "families"
    return SimpleUploadedFile("mine.json", (folder / "zero_hop.json").read_bytes())


def test_uploaded_families_are_used(page: Client) -> None:
    first = page.post(NEW, sent(action="form", **{"questions.families": family_file()}))
    data = json_on(first)
    assert list(data["questions"]["families"]) == ["mine.json"]
    assert page.post(NEW, sent(data, action="create")).status_code == 302
    dataset = Dataset.objects.get(slug="mine")
    assert dataset.files.get().digest == data["questions"]["families"]["mine.json"]


def test_the_bundled_families_can_be_chosen_again(page: Client) -> None:
    data = json_on(page.post(NEW, sent(action="form", **{"questions.families": family_file()})))
    back = page.post(NEW, sent(data, action="form", **{"questions.families": "bundled"}))
    assert "families" not in json_on(back)["questions"]


def test_an_empty_file_field_changes_nothing(page: Client) -> None:
    assert json_on(page.post(NEW, sent(action="form", **{"questions.families": "", "files": ""}))) == TINY


def test_a_file_of_another_user_is_not_used(page: Client) -> None:
    other = User.objects.create_user("other")
    digest = Upload.objects.keep(other, name="x.json", content=b"[]")
    response = page.post(NEW, sent({**TINY, "questions": {"families": {"x.json": digest}}}, action="create"))
    assert response.status_code == 400
    assert "did not come" in text(response)


def test_a_broken_family_file_is_marked(page: Client) -> None:
    broken = SimpleUploadedFile("mine.json", b"\xff{")
    response = page.post(NEW, sent(action="form", **{"questions.families": broken}))
    assert (response.status_code, "UTF-8" in text(response)) == (400, True)


def test_a_mesh_is_found_by_its_file_name(page: Client) -> None:
    data = {**TINY, "vocabulary": {"shapes": {"wedge": {"solid": "mesh", "mesh": "wedge.obj"}}}}
    corner = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    response = page.post(NEW, sent(data, action="json", files=SimpleUploadedFile("wedge.obj", corner)))
    assert len(json_on(response)["vocabulary"]["shapes"]["wedge"]["mesh"]) == 64
    assert "did not come" not in text(response)


def test_a_file_too_large_is_refused(page: Client) -> None:
    response = page.post(NEW, sent(action="form", files=SimpleUploadedFile("big.obj", b"x" * 2_000_001)))
    assert (response.status_code, "big.obj: Expected files of at most 2,000,000" in text(response)) == (400, True)
    assert not Upload.objects.exists()


def test_uploads_that_no_dataset_uses_are_deleted_after_a_day(researcher: User) -> None:
    Upload.objects.keep(researcher, name="old.json", content=b"1")
    Upload.objects.update(created=from_now(-90_000))
    Upload.objects.keep(User.objects.create_user("other"), name="new.json", content=b"2")
    tidy_up()
    assert Upload.objects.get().name == "new.json"


# Preview ---------------------------------------------------------------------------------------------------


def test_a_preview_shows_four_scenes_and_stores_nothing(page: Client) -> None:
    response = page.post(NEW, sent(action="preview"))
    assert response.status_code == 200
    assert len(response.context["preview"]) == 4
    assert text(response).count('src="data:image/webp;base64,') == 4
    assert all(len(scene.questions) == 4 for scene in response.context["preview"])
    assert not Dataset.objects.exists() and not PreviewTurn.objects.exists()


def test_a_preview_names_the_families_that_are_left_out(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    one_shape = {**TINY, "vocabulary": {"shapes": {"sphere": None, "cylinder": None}}}
    asked = {"world": "clevr", "data": one_shape, "files": {}, "split": next(iter(TINY["splits"])), "scenes": 1}
    left_out = preview_process.preview(asked)["left_out"]
    assert any(one.startswith("Family 12, such as “Do the ") for one in left_out)
    monkeypatch.setattr(previews, "make", lambda *args, **more: previews.Preview([], left_out))
    shown = text(page.post(NEW, sent(one_shape, action="preview")))
    assert "13 families of questions are left out, because their answers cannot differ" in shown
    assert left_out[0].replace("“", "“") in shown


def test_a_preview_shows_the_questions_that_the_dataset_will_have(page: Client) -> None:
    shown = page.post(NEW, sent(action="preview")).context["preview"]
    dataset = small.made("same", splits=TINY["splits"])
    asked = [question.text for question in dataset.splits.get().question_set.order_by("position")]
    assert [question.text for scene in shown for question in scene.questions] == asked


def test_a_user_can_make_one_preview_at_a_time(page: Client, researcher: User) -> None:
    assert PreviewTurn.objects.take(researcher)
    response = page.post(NEW, sent(action="preview"))
    assert (response.status_code, "one preview at a time" in text(response)) == (400, True)


def test_a_preview_turn_that_was_not_released_expires(researcher: User) -> None:
    PreviewTurn.objects.create(user=researcher, token="x", until=from_now(-1))
    assert PreviewTurn.objects.take(researcher)


@pytest.mark.slow
def test_a_preview_that_takes_too_long_is_stopped(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "SECONDS", 2)
    endless = {
        **TINY,
        "scene": {"min_pixels": 100_000, "scene_tries": 100_000},
        "images": {"width": 1024, "height": 1024},
    }
    response = page.post(NEW, sent(endless, action="preview"))
    assert (response.status_code, "within 2 seconds" in text(response)) == (400, True)
    assert not PreviewTurn.objects.exists()


def test_a_preview_that_uses_too_much_memory_is_stopped(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "CHILD", "tests.generation.greedy")
    response = page.post(NEW, sent(action="preview"))
    assert (response.status_code, "MB of memory" in text(response)) == (400, True)


# Estimate and quota ------------------------------------------------------------------------------------------


def test_the_estimate_uses_measurements_of_finished_jobs(page: Client) -> None:
    before = page.get(NEW).context["estimate"]
    assert before.rates.jobs == 0 and before.scenes == 100
    small.made("earlier")
    after = page.get(NEW).context["estimate"]
    assert after.rates.jobs == 6
    assert "finished jobs on this server" in text(page.get(NEW))


def test_more_than_the_quota_is_refused(page: Client, researcher: User) -> None:
    small.begun("earlier", owner=researcher)
    Quota.objects.create(user=researcher, scenes=11)
    response = page.post(NEW, sent(action="create"))
    assert response.status_code == 400
    assert "Expected at most 3 scenes, got 4. Your quota is 11 scenes, and 8 are used." in text(response)
    assert times_said("Your quota is", response) == (1, 1)
    Quota.objects.update(scenes=12)
    assert page.post(NEW, sent(action="create")).status_code == 302


def test_far_too_many_scenes_are_refused_before_they_are_planned(page: Client) -> None:
    huge = {**TINY, "splits": {f"s{n}": {"scenes": 2_000_000} for n in range(20)}, "questions": {"window": 1}}
    response = page.post(NEW, sent(huge, action="create"))
    assert (response.status_code, "got 40,000,000" in text(response)) == (400, True)


def test_a_dataset_that_does_not_fit_on_the_disk_is_refused(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "free_bytes", lambda: 1000)
    response = page.post(NEW, sent(action="create"))
    assert (response.status_code, "space on the disk" in text(response)) == (400, True)
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (89, "89 s"), (600, "10 min"), (7260, "2 h 1 min"), (72_000, "20 h"), (400_000, "5 days")],
)
def test_durations_are_shown_with_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words
