"""Small specs of every generated world, whose pictures are drawn quickly."""

from typing import Any

SMALL: dict[str, dict[str, Any] | str] = {
    "babi": "babi",
    "clevr": {
        "base": "clevr-mini",
        "images": {"width": 96, "height": 64, "samples": 1},
        "scene": {"min_pixels": 8},
    },
    "counting": {
        "base": "clevr-counting-mini",
        "images": {"width": 96, "height": 64, "samples": 1},
        "scene": {"min_pixels": 8},
    },
    "shapeworld": "shapeworld-oneshape",
    "simtown": "simtown-mini",
}
