"""The fingerprints of small made counting datasets: `python -m tests.worlds.counting.fingerprints`.

It writes fingerprints.json beside it: do so, with a new ENGINE_VERSION, when output is meant to change. `--print`
prints them instead.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generation.engine import ENGINE_VERSION
from generation.engine.items import Item
from tests.worlds.clevr.fingerprints import of_items
from tests.worlds.counting.made import MAKER, WORLD

HELD = Path(__file__).with_name("fingerprints.json")
DATASETS: dict[str, dict[str, Any]] = {
    "clevr-counting-mini": {"base": "clevr-counting-mini"},
    "clevr-counting-mini, complex questions": {
        "base": "clevr-counting-mini",
        "scene": {"objects_max": 20},
        "questions": {"complex_share": 1.0},
        "splits": {"train": {"scenes": 100}, "val": None, "test": None, "grounding": None},
    },
}


def current(*, backwards: bool = False) -> dict[str, Any]:
    """Return what fingerprints.json should hold; `backwards` makes chunks and splits in reverse order."""
    made = {name: fingerprints(data, backwards=backwards) for name, data in DATASETS.items()}
    return {"engine_version": ENGINE_VERSION, "datasets": made}


def fingerprints(data: Mapping[str, Any], *, backwards: bool = False) -> dict[str, str]:
    """Return the fingerprint of every split, and, under the empty name, of the dataset."""
    spec, step = WORLD.read_spec(data), -1 if backwards else 1
    made: dict[str, list[Item]] = {}
    for split in list(spec.splits)[::step]:
        chunks = {chunk.number: list(MAKER.make(spec, split, chunk)) for chunk in MAKER.plan(spec, split)[::step]}
        made[split] = [item for number in sorted(chunks) for item in chunks[number]]
    return of_items(made)


if __name__ == "__main__":
    text = json.dumps(current(), indent=2) + "\n"
    if "--print" in sys.argv:
        sys.stdout.write(text)
    else:
        HELD.write_text(text)
