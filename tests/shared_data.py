"""Real CLEVR data for tests, if they are in the folder beside the project."""

import os
from pathlib import Path

from tests.skips import Unshared

ROOT = Path(os.environ.get("HORSESENSE_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared_path(*parts: str) -> Path:
    """Return the path of a shared data file; if it is missing, skip the test with a message."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        raise Unshared(f"no {'/'.join(parts)} in {ROOT}: put the data there or name its folder in HORSESENSE_SHARED")
    return path
