"""The fingerprints of small made counting datasets: `python -m tests.worlds.counting.fingerprints`.

It writes them to `fingerprints.json` in this folder. Run it, and raise ENGINE_VERSION, if the output is meant to
change. `--print` prints them instead.
"""

from pathlib import Path
from typing import Any

from tests.worlds.fingerprints import of_datasets, print_or_write

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
    """Return what `fingerprints.json` should contain; `backwards` makes chunks and splits in reverse order."""
    return of_datasets("counting", DATASETS, backwards=backwards)


if __name__ == "__main__":
    print_or_write(current(), HELD)
