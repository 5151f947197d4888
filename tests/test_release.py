"""`make release`: what refuses a release, and one that is built, proved and tagged in a clone."""

import shutil
import sys
from pathlib import Path

import pytest

from tests import release
from tests.test_installed import builder
from tests.webapp.commands import ROOT, environment_of, manage

VERSION = release.version_of(ROOT)
MIGRATIONS = ("annotations/migrations", "webapp/migrations", "webapp/leaderboards/migrations")


def git(folder: Path, *arguments: str) -> str:
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return release.run("git", *names, *arguments, cwd=folder)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a repository with the files of this working tree that a release reads."""
    folder = tmp_path / "clone"
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"):
        folder.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder)
    for name in ("generation", "webapp/docs", *MIGRATIONS):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / release.RELEASED).parent.mkdir()
    shutil.copy(ROOT / release.RELEASED, folder / release.RELEASED)
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "a")
    git(folder, "config", "user.email", "a@example.org")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "change")


def test_this_program_may_become_a_release_as_far_as_its_files_say(clone: Path) -> None:
    assert [*release.complaints(clone)] == []


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("CHANGELOG.md", f"## {VERSION} (", "## Unreleased (", "begin with a section"),
        ("CHANGELOG.md", f"## {VERSION} (", f"## {VERSION} (soon ", "(YYYY-MM-DD)"),
        ("CITATION.cff", f"version: {VERSION}", "version: 0.0.9", "in CITATION.cff, got 0.0.9"),
        ("CITATION.cff", "date-released: 2", "date-released: 1", "Expected date-released: 2"),
        (
            release.RELEASED,
            f'"{VERSION}": {{',
            f'"{VERSION}": {{}}, "0.0.9": {{',
            f'Expected "{VERSION}": {{"annotations": "0',
        ),
        (release.RELEASED, f'"{VERSION}": {{', '"0.0.9": {', "released_migrations.py, got none."),
        (release.RELEASED, '"generation": "', '"generation": "0', '"generation": "00'),
        ("README.md", "#", "git checkout v8.8.8\n#", "tags that exist in README.md, got v8.8.8"),
    ],
)
def test_files_that_disagree_refuse_a_release(clone: Path, file: str, old: str, new: str, words: str) -> None:
    text = (clone / file).read_text()
    assert old in text
    (clone / file).write_text(text.replace(old, new, 1))
    commit(clone)
    check_refusal(clone, words)


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("", "no uncommitted changes, got 1: ?? new.txt"),
        (f"v{VERSION}", f"the tag v{VERSION} exists"),
        ("v99.0.0", f"Expected a version above 99.0.0, the last tag, got {VERSION}"),
    ],
)
def test_changes_and_tags_refuse_a_release(clone: Path, tag: str, words: str) -> None:
    if tag:
        git(clone, "tag", tag)
    else:
        (clone / "new.txt").touch()
    check_refusal(clone, words)


def check_refusal(folder: Path, words: str) -> None:
    found = "\n".join(release.complaints(folder))
    assert words in found and len(found.splitlines()) <= 2
    with pytest.raises(SystemExit, match="Expected"):
        release.main(["--root", str(folder), "--builder", "/nowhere"])
    assert not (folder / "dist").exists()


@pytest.mark.full
@pytest.mark.slow
def test_a_release_is_built_proved_and_tagged(clone: Path) -> None:
    python = builder()
    release.main(["--root", str(clone), "--builder", python])
    wheel, sdist = sorted((clone / "dist").iterdir(), key=lambda path: path.suffix != ".whl")
    assert (wheel.name, sdist.name) == (f"horsesense-{VERSION}-py3-none-any.whl", f"horsesense-{VERSION}.tar.gz")
    assert git(clone, "cat-file", "-t", f"v{VERSION}") == "tag"
    assert git(clone, "rev-list", "-1", f"v{VERSION}") == git(clone, "rev-parse", "HEAD")
    with pytest.raises(SystemExit, match="exists"):
        release.main(["--root", str(clone), "--builder", python])


@pytest.mark.slow
def test_the_command_version_tells_release_engine_and_the_state_of_the_tables(tmp_path: Path) -> None:
    ended = manage("version", environment=environment_of(tmp_path / "var"))
    lines = dict(line.split(None, 1) for line in ended.stdout.splitlines())
    assert list(lines) == ["Release", "Engine", "Commit", "Python", "Database"], ended.stderr
    assert (lines["Release"], lines["Python"]) == (VERSION, sys.version.split()[0])
    assert lines["Database"] == "sqlite, no file yet"
