"""Running the site's commands as people do."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def manage(*arguments: str, environment: Mapping[str, str], seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """Return what `manage.py` said and how it ended."""
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env=dict(environment),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        stdin=subprocess.DEVNULL,
    )
