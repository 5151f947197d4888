"""The name of a world occurs only in its own folder, the registry, the documentation and tests."""

import re
from pathlib import Path

import pytest

from generation.engine.worlds import REGISTRY

ROOT = Path(__file__).parents[2]
SOURCES = ("generation", "annotations", "webapp", "static")
KINDS = {".py", ".html", ".js", ".css", ".txt", ".json"}
FINDINGS = ("webapp/leaderboards/findings/definitions/", "webapp/leaderboards/findings/records/")  # of papers
MAY = ("generation/engine/worlds/__init__.py", "webapp/documentation.py", "webapp/docs/", *FINDINGS)
WORDS = {"counting"}  # names that are usual words are names only after `world`
FIRST = "clevr"  # the demo dataset and the first published files belong to this world


def sources() -> list[Path]:
    """Return the files of the product, without generated and downloaded ones."""
    found = [path for folder in SOURCES for path in ROOT.joinpath(folder).rglob("*") if path.suffix in KINDS]
    return [path for path in found if "__pycache__" not in path.parts]


def name_pattern(name: str) -> str:
    """Return a regular expression for a world's name. A usual word is a name only after `world`."""
    return rf"world\w*\W{{1,4}}{name}\b" if name in WORDS else rf"(?<![a-z]){name}"


@pytest.mark.parametrize("name", sorted(set(REGISTRY) - {FIRST}))
def test_a_world_is_named_only_in_its_own_place(name: str) -> None:
    own = (f"generation/engine/worlds/{name}/", *MAY)
    said = re.compile(name_pattern(name), re.IGNORECASE)
    files = sources()
    assert len(files) > 500
    naming = {str(path.relative_to(ROOT)) for path in files if said.search(path.read_text(encoding="utf-8"))}
    assert any(path.startswith(own[0]) for path in naming)
    assert [path for path in sorted(naming) if not path.startswith(own)] == []
