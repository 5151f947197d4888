"""The documentation of ShapeWorld names every preset and every knob."""

from generation.engine.worlds.shapeworld.spec import PRESETS, ShapeWorldSpec
from webapp import documentation


def test_every_preset_and_every_knob_is_named() -> None:
    text = documentation.source("shapeworld")
    for name in tuple(PRESETS):
        assert f"`{name}`" in text
    for group in ("scene", "images", "held_out", "captions"):
        knobs = ShapeWorldSpec.model_fields[group].annotation
        assert knobs is not None
        for name in knobs.model_fields:
            assert f"`{name}`" in text, f"{group}.{name}"
    for name in ("mix", "mix_as"):
        assert f"`{name}`" in text
