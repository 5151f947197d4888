"""The fingerprints of small datasets of every preset: `python -m tests.worlds.shapeworld.fingerprints`.

It writes them to `fingerprints.json` in this folder. Run it, and raise ENGINE_VERSION, if the output is meant to
change. `--print` prints them instead.
"""

from pathlib import Path
from typing import Any

from generation.engine import ENGINE_VERSION
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.shapeworld.spec import PRESETS
from tests.worlds.fingerprints import of_items, print_or_write

HELD = Path(__file__).with_name("fingerprints.json")
SIZES = {"train": {"scenes": 12}, "validation": {"scenes": 6}, "test": {"scenes": 6}}


def current() -> dict[str, Any]:
    """Return what `fingerprints.json` should contain."""
    return {"engine_version": ENGINE_VERSION, "datasets": {name: fingerprints(name) for name in tuple(PRESETS)}}


def fingerprints(preset: str) -> dict[str, str]:
    """Return the fingerprint of each split of a small dataset, and that of the dataset under an empty name."""
    spec, maker = get_world("shapeworld").read_spec({"base": preset, "splits": SIZES}), get_maker("shapeworld")
    return of_items(
        {
            split: [item for chunk in maker.plan(spec, split) for item in maker.make(spec, split, chunk)]
            for split in spec.splits
        }
    )


if __name__ == "__main__":
    print_or_write(current(), HELD)
