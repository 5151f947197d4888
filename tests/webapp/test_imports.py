"""The tool that checks the direction of imports detects forbidden imports."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.webapp.commands import ROOT

PACKAGES = ("generation", "annotations", "webapp")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the sources that the test may change."""
    for package in PACKAGES:
        for source in ROOT.joinpath(package).rglob("*.py"):
            target = tmp_path / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    shutil.copyfile(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def lint(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("package", ["generation", "annotations", "webapp"])
def test_allowed_imports_are_accepted(copy: Path, package: str) -> None:
    (copy / package / "planted.py").write_text("from generation.access import What\n")
    ended = lint(copy)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("generation/planted.py", "from webapp.models import User"),
        ("generation/planted.py", "from webapp import __version__"),
        ("annotations/planted.py", "from webapp.celery import app"),
        ("annotations/planted.py", "import webapp.settings"),
        ("generation/planted.py", "import annotations.models"),
        ("generation/engine/planted.py", "from generation.access import What"),
        ("generation/engine/planted.py", "import django.conf"),
        ("generation/storage/planted.py", "from numba import njit"),
    ],
)
def test_forbidden_imports_are_refused(copy: Path, file: str, line: str) -> None:
    (copy / file).write_text(f"{line}\n")
    ended = lint(copy)
    assert ended.returncode == 1, ended.stdout
    assert "BROKEN" in ended.stdout
    assert "planted" in ended.stdout
