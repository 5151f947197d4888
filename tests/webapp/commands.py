"""Runs the site's commands as an operator does."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def environment_of(folder: Path, **more: str) -> dict[str, str]:
    """Return an environment in which `manage.py` runs a site in this VAR_DIR, with default settings."""
    from webapp.settings import NUMBA_CACHE_DIR, env

    ours = {*env.variables, "DJANGO_SETTINGS_MODULE", "HORSESENSE_TEST_DIR", "DJANGO_ALLOW_ASYNC_UNSAFE"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "VAR_DIR": str(folder), "NUMBA_CACHE_DIR": str(NUMBA_CACHE_DIR), **more}


def manage(*arguments: str, environment: Mapping[str, str], seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a `manage.py` command and return its output and exit status."""
    return run_python(str(ROOT / "manage.py"), *arguments, environment=environment, seconds=seconds)


def show_settings(expression: str, *, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Print an expression of the settings `s`. The rest of the site is not loaded: that takes four times as long."""
    code = f"from django.conf import settings as s; print({expression})"
    return run_python("-c", code, environment={**environment, "DJANGO_SETTINGS_MODULE": "webapp.settings"})


def run_python(
    *arguments: str, environment: Mapping[str, str], seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run Python in the root of the repository and return its output and exit status."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=dict(environment),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        stdin=subprocess.DEVNULL,
    )
