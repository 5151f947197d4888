"""The fingerprints of small datasets of every preset: `python -m tests.worlds.babi.fingerprints`.

It writes fingerprints.json beside it: do so, with a new ENGINE_VERSION, when output is meant to change. `--print`
prints them instead.
"""

import json
import sys
from pathlib import Path
from typing import Any

from generation.engine import ENGINE_VERSION
from generation.engine.worlds.babi.spec import PRESETS
from tests.worlds.babi.items import WORLD, made
from tests.worlds.clevr.fingerprints import of_items

HELD = Path(__file__).with_name("fingerprints.json")
SIZES = {"train": 20, "val": 4, "test": 10}  # questions of each task


def current() -> dict[str, Any]:
    """Return what fingerprints.json should hold."""
    found = {name: fingerprints({"base": name}) for name in tuple(PRESETS)}
    found["as released"] = fingerprints({"base": "babi", "told": {"faithful": True}})
    return {"engine_version": ENGINE_VERSION, "datasets": found}


def fingerprints(data: dict[str, Any]) -> dict[str, str]:
    """Return the fingerprint of every split of a small dataset, and, under the empty name, of the dataset."""
    splits = {split: {"questions": SIZES[split]} for split in PRESETS[data["base"]]["splits"]}
    spec = WORLD.read_spec({**data, "splits": splits})
    return of_items({split: made(spec, split) for split in spec.splits})


if __name__ == "__main__":
    text = json.dumps(current(), indent=2) + "\n"
    if "--print" in sys.argv:
        sys.stdout.write(text)
    else:
        HELD.write_text(text)
