"""Limits of specs: what is refused by form and JSON, and what staff may allow."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from generation.engine.spec import LIMITS
from generation.engine.worlds import REGISTRY, get_world
from generation.engine.worlds.clevr import scene
from generation.models import Chunk, Dataset, Job, Limit, Quota, Scene, Upload
from generation.specs import limits, loading, previews
from generation.specs.editor import text_of
from tests.generation.complete_datasets import finish
from tests.generation.pages.drafting import NEW, TINY, sent, text, times_said
from webapp.models import User

pytestmark = pytest.mark.django_db

STAFF = "Its staff can raise it"
TOO_MUCH = {
    "objects": ({"scene": {"objects_max": 41, "min_pixels": 0}}, "scene.objects_max", "41"),
    "objects at least": ({"scene": {"objects_min": 500, "objects_max": 500}}, "scene.objects_min", "500"),
    "width": ({"images": {"width": 1025, "height": 64}}, "images.width", "1,025"),
    "height": ({"images": {"width": 64, "height": 100_000}}, "images.height", "100,000"),
    "scenes": ({"splits": {"train": {"scenes": 2_000_001}}}, "splits.train.scenes", "2,000,001"),
    "endless scenes": ({"splits": {"train": {"scenes": 10**30}}}, "splits.train.scenes", "far more"),
    "objects of a split": (
        {"splits": {"train": {"scenes": 4, "overrides": {"scene": {"objects_max": 10**6}}}}},
        "splits.train.overrides.scene.objects_max",
        "1,000,000",
    ),
}
MANY = {
    **TINY,
    "splits": {"train": {"scenes": 2}},
    "scene": {"objects_min": 42, "objects_max": 42, "min_pixels": 0, "extent": 9.0, "margin": 0.2, "min_distance": 0.1},
    "images": {"width": 1040, "height": 64, "samples": 1},
    "questions": {"per_scene": 2},
}


def add_to_tiny(changes: dict[str, Any]) -> dict[str, Any]:
    return {**TINY, **changes}


def nothing_is_made() -> bool:
    return not any(model.objects.exists() for model in (Dataset, Job, Chunk, Scene, Upload))


@pytest.mark.parametrize("action", ["json", "form", "preview", "create"])
@pytest.mark.parametrize("name", TOO_MUCH)
def test_json_beyond_a_limit_is_refused_with_the_name_of_the_parameter(page: Client, name: str, action: str) -> None:
    changes, where, asked = TOO_MUCH[name]
    response = page.post(NEW, sent(action="json" if action == "form" else action, spec=text_of(add_to_tiny(changes))))
    refused = response.context["draft"].refused
    assert response.status_code == 400
    assert (refused.where, f"got {asked}." in refused.reason, STAFF in refused.reason) == (where, True, True)
    faults = 2 if name == "objects at least" else 1  # minimum and maximum are both too large, each at its field
    assert times_said(STAFF, response) == (faults, faults)
    assert nothing_is_made()


@pytest.mark.parametrize("action", ["form", "preview", "create"])
@pytest.mark.parametrize(
    ("field", "value"),
    [("scene.objects_max", "41"), ("images.width", "4000"), ("images.height", "9" * 18), ("split-0-scenes", "9000000")],
)
def test_a_form_beyond_a_limit_is_refused_with_one_message(page: Client, field: str, value: str, action: str) -> None:
    rows = {"split-0-was": "train", "split-0-name": "train", "split-0-scenes": "4"}
    response = page.post(NEW, sent(action=action, **{**rows, field: value}))
    assert response.status_code == 400
    assert times_said(STAFF, response) == (1, 1)
    assert nothing_is_made()


def test_a_limit_that_is_raised_for_one_user_holds_only_for_her(page: Client, researcher: User) -> None:
    other = User.objects.create_user("bob")
    Limit.objects.create(name="objects", user=researcher, most=50)
    assert (limits.limits_for(researcher)["objects"], limits.limits_for(other)["objects"]) == (50, 40)
    Limit.objects.create(name="objects", most=45)
    assert (limits.limits_for(researcher)["objects"], limits.limits_for(other)["objects"]) == (50, 45)
    assert "at most 50</p>" in text(page.get(NEW))


@pytest.mark.slow
def test_a_dataset_up_to_the_raised_limits_can_be_previewed_and_made(
    page: Client, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "SECONDS", 200)  # other processes may slow the machine down
    Limit.objects.create(name="objects", user=researcher, most=42)
    Limit.objects.create(name="side", most=1040)
    previewed = page.post(NEW, sent(MANY, action="preview"))
    assert previewed.status_code == 200, previewed.context["no_preview"]
    assert len(previewed.context["preview"]) == 2
    assert page.post(NEW, sent(MANY, action="create")).status_code == 302
    finish(Dataset.objects.get(slug="mine"))
    assert {len((one.scene_json or {})["objects"]) for one in Scene.objects.all()} == {42}
    assert set(Scene.objects.values_list("width", flat=True)) == {1040}
    assert page.get("/datasets/mine/train/").status_code == 200
    assert page.get("/datasets/mine/train/q/0/").status_code == 200


def test_a_raised_limit_on_scenes_does_not_change_the_quota(page: Client, researcher: User) -> None:
    Limit.objects.create(name="scenes", user=researcher, most=3_000_000)
    many = text_of(add_to_tiny({"splits": {"train": {"scenes": 3_000_000}}}))
    assert "Your quota is 200,000" in text(page.post(NEW, sent(action="create", spec=many)))
    Quota.objects.create(user=researcher, scenes=4_000_000)
    response = page.post(NEW, sent(action="json", spec=many))
    assert response.context["draft"].spec.splits["train"].scenes == 3_000_000
    assert not response.context["draft"].refused


def test_a_lowered_limit_holds_for_defaults_too(page: Client, researcher: User) -> None:
    Limit.objects.create(name="side", user=researcher, most=300)
    response = page.get(NEW)
    assert "Expected at most 300 pixels of a picture&#x27;s width or height, got 480." in text(response)
    assert response.status_code == 200


def test_limits_cannot_be_raised_above_the_programs_own_limits(page: Client, researcher: User) -> None:
    for name, limit in LIMITS.items():
        with pytest.raises(ValidationError):
            Limit(name=name, user=researcher, most=limit.ceiling + 1).full_clean()
        Limit.objects.create(name=name, user=researcher, most=limit.ceiling)
    response = page.post(NEW, sent(action="create", **{"scene.objects_max": "64"}))
    assert "Expected at most 63 objects in a scene, got 64. The program allows no more." in text(response)
    assert LIMITS["objects"].ceiling <= scene.MAX_OBJECTS


def test_staff_raise_limits_in_the_admin_pages(client: Client) -> None:
    client.force_login(User.objects.create(username="admin", is_staff=True, is_superuser=True))
    add = reverse("admin:generation_limit_add")
    assert "Whom it holds for" in text(client.get(add))
    refused = client.post(add, {"name": "objects", "user": "", "most": 99})
    assert "Expected 1 to 63 objects in a scene, got 99." in text(refused)
    assert client.post(add, {"name": "objects", "user": "", "most": 60}).status_code == 302
    assert client.post(add, {"name": "objects", "user": "", "most": 61}).status_code == 200  # there is a row already
    assert limits.limits_for(User.objects.create_user("ada"))["objects"] == 60
    assert "everybody: 60 objects in a scene" in text(client.get(reverse("admin:generation_limit_changelist")))


def test_the_command_line_has_only_the_programs_own_limits(tmp_path: Any) -> None:
    Limit.objects.create(name="objects", most=10)
    path = tmp_path / "many.json"
    path.write_text(text_of(MANY))
    source = loading.load(str(path))
    assert loading.change(source.data)["scene"]["objects_max"] == 42
    path.write_text(text_of({**MANY, "scene": {"objects_max": 64}}))
    with pytest.raises(Exception, match="less than or equal to 63, got 64"):
        call_command("generate", str(path))
    assert nothing_is_made()


@pytest.mark.parametrize("world", sorted(REGISTRY))
def test_every_preset_has_known_limits_and_stays_within_them(world: str) -> None:
    maker = get_world(world).maker
    assert maker is not None
    most = {name: limit.standard for name, limit in LIMITS.items()}
    for preset in maker.presets():
        limits.check(get_world(world).read_spec(maker.preset(preset)).to_json(), most)
