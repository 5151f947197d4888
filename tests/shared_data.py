"""Real CLEVR data for tests, where somebody has put them beside the project."""

import os
from pathlib import Path

from tests.skips import Unshared

ROOT = Path(os.environ.get("HORSESENSE_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared_path(*parts: str) -> Path:
    """Return the path of a shared data file, or skip the test saying what is missing."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        raise Unshared(f"no {'/'.join(parts)} in {ROOT}: put the data there or name its folder in HORSESENSE_SHARED")
    return path
