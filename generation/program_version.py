"""The version of the running program: its release, its engine, and its commit if it runs from a git repository."""

import subprocess
from functools import cache
from pathlib import Path

from generation.engine import ENGINE_VERSION
from generation.engine.release import __version__

HOME = Path(__file__).resolve().parents[1]


# Every message names a program in this form.
def describe(*, release: str, engine_version: str) -> str:
    return f"release {release} (engine {engine_version})"


PROGRAM = describe(release=__version__, engine_version=ENGINE_VERSION)


@cache
def commit() -> str:
    # Its end says whether Python files were changed since then. It is empty without a repository.
    found = _git("rev-parse", "--short=12", "HEAD")
    changed = found and _git("status", "--porcelain", "--untracked-files=no", "--", "*.py")
    return f"{found}{' with changes' if changed else ''}"


def code_version() -> str:
    # Trainings and records of findings store this form.
    return f"{__version__}, engine {ENGINE_VERSION}{f', commit {commit()}' if commit() else ''}"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(HOME), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""  # there is no git, or no repository
