"""The renderer of a CLEVR spec: its parameters, their defaults, and the message if it is missing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generation.engine.errors import BadSpec
from generation.engine.items import Item
from generation.engine.render import blender, tracer
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.clevr.spec import ClevrSpec

WORLD, MAKER = get_world("clevr"), get_maker("clevr")


def spec(**images: Any) -> ClevrSpec:
    return WORLD.read_spec({"base": "clevr-mini", "images": images})  # type: ignore[return-value]


def with_override(images: dict[str, Any], **base: Any) -> ClevrSpec:
    data = {"base": "clevr-mini", "images": base, "splits": {"val": {"overrides": {"images": images}}}}
    return WORLD.read_spec(data)  # type: ignore[return-value]


@pytest.fixture
def without() -> Iterator[None]:
    """Configure a Python without Blender."""
    blender.configure(blender.Setup(python=Path("/nowhere/python")))
    yield
    blender.configure(blender.Setup())


def test_specs_without_blender_are_read_as_before() -> None:
    plain = {"renderer": "tracer", "width": 480, "height": 320, "samples": 16}
    assert spec().to_json()["images"] == plain
    assert WORLD.read_spec(spec().to_json()) == spec()
    assert spec(samples=4).to_json()["images"] == plain | {"samples": 4}


def test_blender_takes_512_samples_and_does_not_denoise_by_default() -> None:
    asked = spec(renderer="blender")
    assert (asked.images.samples, asked.images.denoise) == (512, False)
    whole = {"renderer": "blender", "width": 480, "height": 320, "samples": 512, "denoise": False}
    assert asked.to_json()["images"] == whole
    assert WORLD.read_spec(asked.to_json()) == asked
    assert spec(renderer="blender", samples=16, denoise=True).images.samples == 16


def test_only_blender_can_denoise() -> None:
    with pytest.raises(BadSpec, match="Expected denoise with the renderer blender alone, got tracer") as caught:
        spec(denoise=True)
    assert caught.value.where == "images"


@pytest.mark.parametrize(
    ("base", "override", "samples"),
    [
        ({}, {"renderer": "blender"}, 512),
        ({"samples": 4}, {"renderer": "blender"}, 512),
        ({}, {"renderer": "blender", "samples": 8}, 8),
        ({"renderer": "blender", "samples": 64, "denoise": True}, {"renderer": "tracer"}, 16),
        ({"renderer": "blender", "samples": 64}, {"renderer": "blender"}, 64),
        ({"renderer": "blender", "samples": 64}, {"width": 100}, 64),
    ],
)
def test_a_split_with_another_renderer_has_the_default_samples_of_this_renderer(
    base: dict[str, Any], override: dict[str, Any], samples: int
) -> None:
    again = WORLD.read_spec(with_override(override, **base).to_json())
    for asked in (with_override(override, **base), again):
        own = asked.for_split("val").images  # type: ignore[attr-defined]
        assert own.samples == samples
        assert own.renderer == override.get("renderer", base.get("renderer"))
        assert not own.denoise


def test_a_preview_is_drawn_by_the_tracer() -> None:
    asked = with_override({"renderer": "tracer", "samples": 99, "width": 100}, renderer="blender", denoise=True)
    quick = asked.for_preview()
    assert (quick.images.renderer, quick.images.samples) == ("tracer", 16)
    assert (quick.for_split("val").images.samples, quick.for_split("val").images.width) == (16, 100)
    whole = asked.to_json()
    assert quick.to_json() | {"images": whole["images"], "splits": whole["splits"]} == whole
    assert len(quick.families) == len(asked.families) > 0


@pytest.mark.usefixtures("without")
def test_a_missing_blender_is_reported_with_the_field_that_needs_it() -> None:
    spec().check_here()
    for asked, where in [
        (spec(renderer="blender"), "images.renderer"),
        (with_override({"renderer": "blender"}), "splits.val.overrides.images.renderer"),
        (with_override({"samples": 9}, renderer="blender"), "images.renderer"),
    ]:
        with pytest.raises(BadSpec, match="make blender") as caught:
            asked.check_here()
        assert caught.value.where == where


@pytest.fixture
def blender_calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replace the rendering by Blender, and return the list of its calls."""
    found: list[dict[str, Any]] = []

    def render(stage: Any, camera: Any, **options: Any) -> Any:
        found.append({"stage": stage, "camera": camera, **options})
        return np.zeros((1, 1, 3), np.uint8), np.zeros((1, 1), np.uint16)

    monkeypatch.setattr(blender, "render", render)
    return found


def test_blender_gets_the_parameters_of_the_spec_and_a_seed_for_each_scene(
    mini_items: dict[str, list[Item]], blender_calls: list[dict[str, Any]]
) -> None:
    asked = spec(renderer="blender", samples=7, denoise=True)
    items = mini_items["val"]
    for item in (*items, items[0]):
        MAKER.render(asked, "val", item)
    MAKER.render(asked.model_copy(update={"seed": 1}), "val", items[0])
    assert {(one["samples"], one["denoise"]) for one in blender_calls} == {(7, True)}
    seeds = [one["seed"] for one in blender_calls]
    assert len(set(seeds[: len(items)])) == len(items)
    assert seeds[0] == seeds[len(items)] != seeds[-1]
    assert len(blender_calls[0]["stage"].solids) == len(items[0].scene.objects)  # type: ignore[union-attr]


def test_each_picture_has_its_own_random_noise(
    mini_items: dict[str, list[Item]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int] = []

    def render(*_: Any, seed: int, **__: Any) -> Any:
        seeds.append(seed)
        return np.zeros((1, 1, 3), np.uint8), np.zeros((1, 1), np.uint16)

    monkeypatch.setattr(tracer, "render", render)
    items = mini_items["val"]
    for item in (*items, items[0]):
        MAKER.render(spec(), "val", item)
    assert len(set(seeds)) == len(items) and seeds[-1] == seeds[0]


def test_the_tracer_is_the_default_renderer(
    mini: ClevrSpec, mini_items: dict[str, list[Item]], blender_calls: list[dict[str, Any]]
) -> None:
    rgb, _ = MAKER.render(mini, "val", mini_items["val"][0])
    assert rgb.shape == (320, 480, 3)
    assert not blender_calls
