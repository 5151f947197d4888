"""The fingerprints of small datasets of every preset: `python -m tests.worlds.babi.fingerprints`.

It writes them to `fingerprints.json` in this folder. Run it, and raise ENGINE_VERSION, if the output is meant to
change. `--print` prints them instead.
"""

from pathlib import Path
from typing import Any

from generation.engine import ENGINE_VERSION
from generation.engine.worlds.babi.spec import PRESETS
from tests.worlds.babi.items import WORLD, generate_items
from tests.worlds.fingerprints import of_items, print_or_write

HELD = Path(__file__).with_name("fingerprints.json")
SIZES = {"train": 20, "val": 4, "test": 10}  # questions of each task


def current() -> dict[str, Any]:
    """Return what `fingerprints.json` should contain."""
    found = {name: fingerprints({"base": name}) for name in tuple(PRESETS)}
    found["as released"] = fingerprints({"base": "babi", "told": {"faithful": True}})
    return {"engine_version": ENGINE_VERSION, "datasets": found}


def fingerprints(data: dict[str, Any]) -> dict[str, str]:
    """Return the fingerprint of each split of a small dataset, and that of the dataset under an empty name."""
    splits = {split: {"questions": SIZES[split]} for split in PRESETS[data["base"]]["splits"]}
    spec = WORLD.read_spec({**data, "splits": splits})
    return of_items({split: generate_items(spec, split) for split in spec.splits})


if __name__ == "__main__":
    print_or_write(current(), HELD)
