"""The documentation of ShapeWorld names every preset and every parameter."""

from generation.engine.worlds.shapeworld.spec import PRESETS, ShapeWorldSpec
from webapp import documentation


def test_every_preset_and_every_parameter_is_named() -> None:
    text = documentation.source("shapeworld")
    for name in tuple(PRESETS):
        assert f"`{name}`" in text
    for group in ("scene", "images", "held_out", "captions"):
        parameters = ShapeWorldSpec.model_fields[group].annotation
        assert parameters is not None
        for name in parameters.model_fields:
            assert f"`{name}`" in text, f"{group}.{name}"
    for name in ("mix", "mix_as"):
        assert f"`{name}`" in text
