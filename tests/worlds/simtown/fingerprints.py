"""The fingerprints of simtown-mini and of two with a distractor: `python -m tests.worlds.simtown.fingerprints`.

It writes them to `fingerprints.json` in this folder. Run it, and raise ENGINE_VERSION, if the output is meant to
change. `--print` prints them instead.
"""

from pathlib import Path
from typing import Any

from tests.worlds.fingerprints import of_datasets, print_or_write

HELD = Path(__file__).with_name("fingerprints.json")
DATASETS: dict[str, dict[str, Any]] = {
    "simtown-mini": {"base": "simtown-mini"},
    "simtown-mini, four relations and a distractor": {
        "base": "simtown-mini",
        "distractor": True,
        "questions": {"relations": ["left", "right", "front", "behind"]},
        "splits": {"train": {"scenes": 40}, "val": {"scenes": 10}, "test": {"scenes": 20}},
    },
    "simtown-mini, four relations and a distractor at random": {
        "base": "simtown-mini",
        "distractor": True,
        "distractor_placement": "random",
        "questions": {"relations": ["left", "right", "front", "behind"]},
        "splits": {"train": {"scenes": 40}, "val": {"scenes": 10}, "test": {"scenes": 20}},
    },
}


def current(*, backwards: bool = False) -> dict[str, Any]:
    """Return what `fingerprints.json` should contain; `backwards` makes chunks and splits in reverse order."""
    return of_datasets("simtown", DATASETS, backwards=backwards)


if __name__ == "__main__":
    print_or_write(current(), HELD)
