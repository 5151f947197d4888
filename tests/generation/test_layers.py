"""Storage and pages name no world, and all files state the same release."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

import generation
import webapp
from generation.engine.worlds import REGISTRY
from tests import release
from tests.worlds.test_names import name_pattern
from webapp.api.urls import api

ROOT = Path(settings.BASE_DIR)
HOME = ROOT / "generation"
WORLDS = HOME / "engine" / "worlds"
MAY_NAME_WORLDS = {
    "generation/management/commands/datasets.py": "says what to type if there is no dataset",
    "generation/templates/generation/datasets.html": "says what to type if there is no dataset",
    "generation/asking/single_file.py": "the example in the first lines of ask.py",
    "generation/engine/reading/other_sets.py": "names sets of other projects, such as CLEVRER",
    "generation/engine/precompilation.py": "compiles ahead what the world that ships needs",
}


def words_of(path: Path, text: str) -> Iterator[str]:
    """Yield a template's text or a module's names and strings, but no comments or docstrings: they may cite papers."""
    if path.suffix != ".py":
        yield re.sub(r"{#.*?#}|{% comment %}.*?{% endcomment %}", "", text, flags=re.DOTALL)
        return
    tree = ast.parse(text)
    said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said:
            yield node.value
        for field in ("id", "attr", "name", "asname", "arg", "module"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def names_a_world(path: Path, text: str) -> bool:
    """Return whether a file names a registered world."""
    names = "|".join(map(name_pattern, REGISTRY))
    return any(re.search(names, words, re.IGNORECASE) for words in words_of(path, text))


def test_storage_and_pages_name_no_world() -> None:
    files = [path for path in HOME.rglob("*") if path.suffix in (".py", ".html") and not path.is_relative_to(WORLDS)]
    assert len(files) > 50
    found = {str(path.relative_to(ROOT)) for path in files if names_a_world(path, path.read_text())}
    assert found - MAY_NAME_WORLDS.keys() == set()


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("a.py", 'if world == "clevr": pass', True),
        ("a.py", "class ClevrPage: pass", True),
        ("a.py", "from generation.engine.worlds.clevr import colours", True),
        ("a.py", '"""As CLEVR publishes it."""  # clevr', False),
        ("a.html", "{% if dataset.world == 'clevr' %}", True),
        ("a.html", "{# as for clevr #} colours", False),
    ],
)
def test_names_of_worlds_are_found_except_in_comments_and_docstrings(file: str, text: str, named: bool) -> None:
    assert names_a_world(Path(file), text) == named


def test_all_files_state_the_same_release() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "generation.engine.release.__version__"}
    assert release.version_of(ROOT) == generation.__version__ == webapp.__version__ == api.version
