"""`manage.py startworld` writes a world that runs unchanged under the given name."""

import sys
from collections.abc import Iterator
from importlib import invalidate_caches
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from generation.engine import worlds
from generation.engine.worlds import find_preset, get_world, plugins
from generation.starter.world import WORLD as STARTER
from tests.worlds import conformance

LINES = 130


@pytest.fixture
def pebbles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the folder of a new world that is installed as pip would install it."""
    call_command("startworld", "pebbles", "--folder", str(tmp_path), stdout=StringIO())
    home = tmp_path / "pebbles"
    info = home / "pebbles-0.1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: pebbles\nVersion: 0.1.0\n")
    info.joinpath("entry_points.txt").write_text("[horsesense.worlds]\npebbles = pebbles.world:WORLD\n")
    monkeypatch.syspath_prepend(str(home))
    monkeypatch.setattr(worlds, "_LOADED", worlds._Loaded())
    invalidate_caches()
    plugins.entry_points_by_name.cache_clear()
    yield home
    plugins.entry_points_by_name.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "pebbles"]:
        del sys.modules[name]


def test_a_new_world_is_found_and_passes_the_conformance_tests(pebbles: Path) -> None:
    assert get_world("pebbles").label == "Pebbles"
    assert find_preset("pebbles")["title"] == "Pebbles"
    conformance.hold(get_world("pebbles"))


def test_the_starter_world_passes_the_conformance_tests() -> None:
    conformance.hold(STARTER)


def test_no_file_of_a_new_world_names_the_starter_world(pebbles: Path) -> None:
    for path in (path for path in pebbles.rglob("*") if path.is_file() and "dist-info" not in str(path)):
        assert "starter" not in path.read_text(errors="replace").lower(), path
    assert len((pebbles / "pebbles/world.py").read_text().splitlines()) < LINES
    assert 'pebbles = "pebbles.world:WORLD"' in (pebbles / "pyproject.toml").read_text()


def test_the_command_prints_the_next_steps(tmp_path: Path) -> None:
    said = StringIO()
    call_command("startworld", "twigs", "--folder", str(tmp_path), stdout=said)
    assert f"pip install --editable {tmp_path}/twigs" in said.getvalue()
    assert "python -m tests.worlds.conformance twigs" in said.getvalue()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("clevr", "NAME: Expected a name that no world has, got 'clevr'"),
        ("json", "NAME: Expected a name that Python doesn't use already, got 'json'"),
        ("class", "NAME: Expected a name that Python doesn't use already, got 'class'"),
        ("two words", "NAME: Expected up to 30 small letters and digits, a letter first, got 'two words'"),
        ("../up", "NAME: Expected up to 30 small letters"),
        ("1st", "NAME: Expected up to 30 small letters"),
        ("x" * 31, "NAME: Expected up to 30 small letters"),
        ("", "NAME: Expected up to 30 small letters"),
    ],
)
def test_an_invalid_name_is_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("startworld", name, "--folder", str(tmp_path), stdout=StringIO())
    assert message in str(refused.value)
    assert refused.value.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_not_overwritten(tmp_path: Path) -> None:
    call_command("startworld", "twigs", "--folder", str(tmp_path), stdout=StringIO())
    path = tmp_path / "twigs/twigs/world.py"
    path.write_text("# hours of work")
    with pytest.raises(CommandError, match="Expected a folder that isn't there yet"):
        call_command("startworld", "twigs", "--folder", str(tmp_path), stdout=StringIO())
    assert path.read_text() == "# hours of work"
