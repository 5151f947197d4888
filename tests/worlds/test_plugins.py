"""Worlds of other packages are found by their entry points. A broken one is reported, and the site works without it."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client

from generation.engine import worlds
from generation.engine.errors import BadSpec, BrokenWorld
from generation.engine.worlds import REGISTRY, base, find_preset, get_world, names, plugins, usable
from generation.management.world_packages import check_worlds
from generation.queue import sandbox
from generation.specs.presets import preset_groups
from tests.worlds import marbles

Install = Callable[..., None]
WHERE = marbles.WHERE
SOURCE = "from tests.worlds.marbles import MarbleWorld\n"
NAMED = f"{SOURCE}WORLD = type('Named', (MarbleWorld,), dict(name='pebbles'))()\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a package with entry points and one module, like pip does."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(worlds, "_LOADED", worlds._Loaded())

    def lay(package: str, points: dict[str, str], source: str = "") -> None:
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        info.joinpath("entry_points.txt").write_text(f"[horsesense.worlds]\n{lines}")
        tmp_path.joinpath(f"{package}.py").write_text(source)
        plugins.entry_points_by_name.cache_clear()

    plugins.entry_points_by_name.cache_clear()
    yield lay
    plugins.entry_points_by_name.cache_clear()
    for name in list(sys.modules):
        if name.startswith("stones"):
            del sys.modules[name]


def test_a_world_of_another_package_is_available(install: Install) -> None:
    assert "marbles" not in names()
    install("stones", {"marbles": WHERE})
    assert "marbles" in names()
    assert get_world("marbles").label == "Marbles"
    assert get_world("marbles") in usable()
    assert find_preset("marbles")["world"] == "marbles"
    assert check_worlds(None) == []


def test_a_world_of_another_package_has_a_preset_group_and_a_thumbnail(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "KEPT", (*sandbox.KEPT, "PYTHONPATH"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    install("stones", {"marbles": WHERE})
    group = next(group for group in preset_groups() if group.world == "Marbles")
    assert [card.name for card in group.cards] == ["marbles"]
    assert group.cards[0].thumbnail.image.startswith("data:image/webp")


def test_without_other_packages_only_bundled_worlds_are_available(install: Install) -> None:
    assert set(names()) == set(REGISTRY)
    with pytest.raises(BadSpec, match=r"Expected one of .*clevr.*, got 'marbles'"):
        get_world("marbles")


@pytest.mark.parametrize(
    ("value", "source", "said"),
    [
        ("stones_gone:WORLD", "", r"marbles: Expected stones_gone:WORLD \(stones\) to load, got ModuleNotFoundError"),
        ("stones:WORLD", "", r"Expected stones:WORLD \(stones\) to load, got AttributeError"),
        ("stones:WORLD", "1 / 0", r"to load, got ZeroDivisionError: division by zero"),
        (
            "stones:WORLD",
            "WORLD = 3",
            r"Expected an instance of generation.engine.worlds.base.World at stones:WORLD \(stones\), got int",
        ),
        ("stones:WORLD", NAMED, r"Expected the world at stones:WORLD \(stones\) to go by its name, got 'pebbles'"),
    ],
)
def test_a_broken_world_is_reported_and_skipped(install: Install, value: str, source: str, said: str) -> None:
    install("stones", {"marbles": value}, source)
    with pytest.raises(BrokenWorld, match=said) as told:
        get_world("marbles")
    assert "marbles" not in {world.name for world in usable()}
    assert {world.name for world in usable()} == set(REGISTRY)
    [warning] = check_worlds(None)
    assert (warning.id, warning.msg) == ("generation.W001", str(told.value))


def test_two_worlds_with_the_same_name_are_refused(install: Install) -> None:
    install("stones", {"marbles": WHERE})
    install("stones_too", {"marbles": "stones_too:WORLD"}, "from tests.worlds.marbles import WORLD")
    with pytest.raises(BrokenWorld, match=r"Expected one world of that name, got 2: .*\(stones.*\) and .*\(stones"):
        get_world("marbles")


def test_a_bundled_world_hides_one_of_another_package_with_the_same_name(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REGISTRY, "marbles", WHERE)
    install("stones", {"marbles": "stones:WORLD"}, "1 / 0")
    assert get_world("marbles") is marbles.WORLD
    assert [warning.id for warning in check_worlds(None)] == ["generation.W002"]


@pytest.mark.django_db
def test_pages_work_without_a_broken_world(install: Install, client: Client) -> None:
    install("stones", {"marbles": "stones:WORLD"}, "1 / 0")
    page = client.get("/datasets/?world=clevr").text
    assert "CLEVR" in page and "Marbles" not in page


def test_earlier_names_of_base_classes_are_available() -> None:
    plain = importlib.import_module("generation.engine.worlds.plain")
    assert (plain.PlainWorld, plain.PlainMaker, plain.PlainScene) == (base.World, base.SceneMaker, base.FieldScene)
