"""The fingerprints of small datasets, equal on every machine: `python -m tests.worlds.clevr.fingerprints`.

Without options it writes them to `fingerprints.json` in this folder. Run it, and raise ENGINE_VERSION, if the output is
meant to change. `--print` prints them instead; `--backwards` generates chunks and splits in reverse order.
"""

import json
import sys
from pathlib import Path
from typing import Any

from numpy._core import _multiarray_umath as numpy_core

import webapp
from generation.engine import ENGINE_VERSION
from tests.worlds.fingerprints import of_datasets

HELD = Path(__file__).with_name("fingerprints.json")
DEMO = Path(webapp.__file__).with_name("demo.json")
DATASETS: dict[str, dict[str, Any]] = {
    "clevr-mini": {"base": "clevr-mini"},
    "clevr-mini, batches of 8": {"base": "clevr-mini", "questions": {"window": 8}},
    "clevr-mini, degeneracy clevr": {"base": "clevr-mini", "questions": {"degeneracy": "clevr"}},
    "demo": json.loads(DEMO.read_text()),
}


MINIS = ("clevr-cogent-mini", "clevr-length-mini", "clevr-skeleton-mini")


def current(*, backwards: bool = False, minis: bool = False) -> dict[str, Any]:
    """Return what `fingerprints.json` should contain. Presets other than clevr-mini are included only if `minis`."""
    named = DATASETS | ({name: {"base": name} for name in MINIS} if minis else {})
    return of_datasets("clevr", named, backwards=backwards)


def dispatched() -> list[str]:
    """Return the processor features for which NumPy has special code on this machine."""
    features = numpy_core.__cpu_features__
    return [name for name in numpy_core.__cpu_dispatch__ if features.get(name)]


def main(arguments: list[str]) -> None:
    """Write, or print, the fingerprints."""
    made = current(backwards="--backwards" in arguments, minis="--print" not in arguments)
    if "--print" in arguments:
        sys.stdout.write(json.dumps({**made, "dispatched": dispatched()}))
        return
    held = json.loads(HELD.read_text())
    changed = [name for name, splits in held["datasets"].items() if made["datasets"].get(name) != splits]
    if held["engine_version"] == ENGINE_VERSION and changed:
        sys.exit(
            f"Expected another ENGINE_VERSION than {ENGINE_VERSION} for other {', '.join(changed)}: raise it in "
            "generation/engine/__init__.py, then run this again."
        )
    HELD.write_text(json.dumps(made, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
