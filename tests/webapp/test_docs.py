"""The documentation: every page can be opened, every link has a target, and every command runs."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import markdown
import pytest
from _pytest.mark import ParameterSet
from django.conf import settings
from django.test import Client

from annotations.models import Study
from generation.engine.language.family_files import MAX_OPERATIONS
from generation.engine.worlds.clevr.spec import ClevrSpec, read_spec
from tests import screenshots, simtown_pictures
from tests.webapp.commands import ROOT
from tests.webapp.compose import FILE, HOSTS_FILE
from webapp import documentation
from webapp.settings import VARIABLES

PAGES = documentation.names()
FENCE = re.compile(r"^```\w+ (file=(?P<file>\S+)|run|refused)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
# Pages about files, settings and commands, which have no screenshot.
WITHOUT_PICTURE = {
    "architecture",
    "asking",
    "backups",
    "performance",
    "blender",
    "counting",
    "environment",
    "export-formats",
    "files",
    "fresh-twins",
    "metrics",
    "settings",
    "stream",
    "training",
    "verify",
}
AT_THE_ROOT = ("README", "CONTRIBUTING")
# Variables that only the compose files read, and those of Docker Compose itself.
OF_COMPOSE = {"COMPOSE_FILE", "COMPOSE_PROFILES", *re.findall(r"\$\{(\w+)", FILE.read_text() + HOSTS_FILE.read_text())}
PYTHON = """#!/bin/sh
if [ "$1" = manage.py ]; then shift; set -- {root}/manage.py "$@"; fi
PYTHONPATH={root}:{installed} exec {python} "$@"
"""
# A replacement for `pip install --editable FOLDER` without a builder and the network. tests/test_installed.py uses the
# real pip.
PIP = """#!{python}
import os, pathlib, sys, tomllib
folder = pathlib.Path(sys.argv[3]).resolve()
project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
info = pathlib.Path("{installed}", project["name"] + "-" + project["version"] + ".dist-info")
info.mkdir(parents=True)
(info / "METADATA").write_text("Metadata-Version: 2.1\\nName: " + project["name"] + "\\n")
lines = []
for group, points in project["entry-points"].items():
    lines += ["[" + group + "]", *(name + " = " + value for name, value in points.items())]
(info / "entry_points.txt").write_text("\\n".join(lines))
os.symlink(folder / project["name"], info.parent / project["name"])
"""
Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


class Block(NamedTuple):
    """A fenced part of a page: a file to write, commands to run, or a refused command with its error message."""

    page: str
    kind: str
    file: str | None
    body: str


def text_of(name: str) -> str:
    return (ROOT / f"{name}.md").read_text() if name in AT_THE_ROOT else documentation.source(name)


def blocks(name: str) -> Iterator[Block]:
    """Yield each file, each run of commands and each refusal of a page or of the README."""
    for match in FENCE.finditer(text_of(name)):
        yield Block(page=name, kind=match[1], file=match["file"], body=match["body"])


AT_THE_GATE = ("README",)


def with_commands() -> list[ParameterSet]:
    """Return the pages whose commands are run. All but the README run only in full proofs."""
    names = [name for name in [*PAGES, "README"] if any(block.kind == "run" for block in blocks(name))]
    return [pytest.param(name, marks=[] if name in AT_THE_GATE else [pytest.mark.full]) for name in names]


def refusals() -> list[Block]:
    return [block for name in PAGES for block in blocks(name) if block.kind == "refused"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the reader's current folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def shell(migrated_environment: dict[str, str], folder: Path, tmp_path: Path) -> Shell:
    """Return a shell in which `python manage.py` runs this project's, and Python programs find the engine."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (("python", PYTHON), ("pip", PIP)):
        words = {"python": sys.executable, "root": ROOT, "installed": tmp_path / "installed"}
        tools.joinpath(name).write_text(text.format(**words))
        tools.joinpath(name).chmod(0o755)
    environment = migrated_environment | {"PATH": f"{tools}:{migrated_environment['PATH']}"}

    def run(line: str) -> "subprocess.CompletedProcess[str]":
        command = ["sh", "-c", line.removeprefix("$ ")]
        return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)

    return run


def write(block: Block, folder: Path) -> None:
    assert block.file is not None
    (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
    (folder / block.file).write_text(block.body)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["api", "predictions"])
def test_commands_name_the_address_of_the_site(client: Client, settings: Any, name: str) -> None:
    assert f"{documentation.USUAL_SITE}/" in documentation.page(name).body
    for public, site in (("", "http://testserver"), ("https://site.example.org", "https://site.example.org")):
        settings.PUBLIC_URL = public
        shown = client.get(f"/docs/{name}/").text
        assert f"{site}/" in shown and documentation.USUAL_SITE not in shown


@pytest.mark.django_db
@pytest.mark.parametrize("name", PAGES)
def test_page_answers_with_one_first_heading(client: Client, name: str) -> None:
    answer = client.get("/docs/" if name == "index" else f"/docs/{name}/")
    assert answer.status_code == 200
    assert answer.text.count("<h1") == 1
    assert documentation.page(name).title in answer.text


@pytest.mark.django_db
@pytest.mark.parametrize("name", PAGES)
def test_every_link_has_a_target(client: Client, name: str) -> None:
    body = documentation.page(name).body
    anchors = set(re.findall(r' id="([^"]+)"', body))
    for target in re.findall(r'href="([^"]+)"', body):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        else:
            assert target.startswith("/"), f"{target} leads away from the site"
            assert client.get(target.partition("#")[0]).status_code == 200, target


@pytest.mark.parametrize("name", PAGES)
def test_every_table_is_rendered(name: str) -> None:
    body = re.sub(r"<(pre|code)\b.*?</\1>", "", documentation.page(name).body, flags=re.DOTALL)
    assert "|" not in re.sub(r"<[^>]+>", "", body)


@pytest.mark.parametrize("name", AT_THE_ROOT)
def test_every_table_of_the_readme_is_rendered(name: str) -> None:
    plain = markdown.markdown(text_of(name), extensions=["tables", "fenced_code"])
    body = re.sub(r"<(pre|code)\b.*?</\1>", "", plain, flags=re.DOTALL)
    assert "|" not in re.sub(r"<[^>]+>", "", body)


@pytest.mark.django_db
def test_only_get_and_head_are_allowed(client: Client) -> None:
    assert client.head("/docs/").status_code == 200
    assert client.head("/docs/spec/").status_code == 200
    assert client.post("/docs/").status_code == 405


def test_every_page_is_in_one_group() -> None:
    placed = [name for names in documentation.GROUPS.values() for name in names]
    assert sorted(placed) == sorted(PAGES)
    assert [group for group, _ in documentation.contents()] == ["", "Use", "Make", "Study", "Compare", "Run", "Develop"]


def test_every_file_that_the_architecture_names_exists() -> None:
    named = set(
        re.findall(r"`((?:generation|annotations|webapp|tests)/[\w/.]+)`", documentation.source("architecture"))
    )
    assert len(named) > 90
    assert {name for name in named if not (ROOT / name).exists()} == set()


@pytest.mark.parametrize("layer", ["generation", "generation/engine", "annotations", "webapp", "webapp/leaderboards"])
def test_the_architecture_names_every_folder(layer: str) -> None:
    beside = {
        "migrations",
        "templates",
        "templatetags",
        "urls",
        "starter",
        "docs",
        "deploy",
        "postgresql",
        "management",
    }
    rooms = {path.parent.name for path in (ROOT / layer).glob("*/__init__.py")} - beside
    text = documentation.source("architecture")
    assert rooms and {room for room in rooms if f"`{layer}/{room}`" not in text} == set()


@pytest.mark.django_db
def test_the_index_names_the_pages_of_each_group_under_its_heading(client: Client) -> None:
    text = documentation.source("index")
    for group, names in documentation.GROUPS.items():
        if group:
            part = text.partition(f"\n## {group}\n")[2].partition("\n## ")[0]
            assert re.findall(r"\]\(/docs/([a-z-]+)/\)", part) == list(names), group
            assert f"<h2>{group}</h2>" in client.get("/docs/").text


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_its_pictures(name: str) -> None:
    pictures = re.findall(r'<img src="([^"]+)" alt="([^"]*)" (\S+) (\S+)', documentation.page(name).body)
    drawn = [key for key in simtown_pictures.PICTURES if key.startswith(name)]
    files = drawn or ([] if name in WITHOUT_PICTURE else [name])
    assert [picture[0] for picture in pictures] == [f"{settings.STATIC_URL}docs/{file}.webp" for file in files]
    for _, alt, width, height in pictures:
        assert len(alt) > 20
        assert width == 'width="1120"' and (drawn or height == 'height="700"')


def test_pictures_are_small_and_each_can_be_taken_again() -> None:
    kept = {path.stem: path.stat().st_size for path in (ROOT / "static" / "docs").iterdir()}
    taken = {name for name in screenshots.SHOTS if "/" not in name}
    assert taken == set(PAGES) - WITHOUT_PICTURE - {"simtown"}
    assert set(kept) == taken | set(simtown_pictures.PICTURES)
    assert max(kept.values()) < 100_000


def test_pictures_of_the_readme_are_small_and_each_can_be_taken_again() -> None:
    shown = re.findall(r"\(static/(readme/\w+)\.webp\)", (ROOT / "README.md").read_text())
    assert set(shown) == {name for name in screenshots.SHOTS if "/" in name}
    assert max((ROOT / "static" / f"{name}.webp").stat().st_size for name in shown) < 150_000


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["nothing", "..", "index.md"])
def test_an_unknown_page_is_404(client: Client, name: str) -> None:
    assert client.get(f"/docs/{name}/").status_code == 404


def test_headings_have_anchors() -> None:
    page = documentation.page("running")
    assert [heading.anchor for heading in page.headings][:2] == ["on-one-machine", "accounts"]
    for heading in page.headings:
        assert f'id="{heading.anchor}"' in page.body


def test_the_settings_page_has_every_variable() -> None:
    body = documentation.page("settings").body
    for variable in VARIABLES:
        assert f"<code>{variable.name}</code>" in body
        assert body.count(f"<td><code>{variable.name}</code></td>") == 1


def test_markup_that_could_run_code_is_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(documentation, "FOLDER", tmp_path)
    (tmp_path / "bad.md").write_text(
        "# Bad\n\n<script>alert(1)</script><p onclick='x()' style='color:red'>text</p> [x](javascript:alert(1))\n"
    )
    body = documentation.page("bad").body
    documentation._render.cache_clear()
    assert "text" in body
    for evil in ("script", "onclick", "style", "javascript"):
        assert evil not in body


def test_settings_that_are_named_in_the_text_exist() -> None:
    platform = {field.default for field in Study._meta.concrete_fields if field.name.endswith("_parameter")}
    known = {variable.name for variable in VARIABLES} | platform | OF_COMPOSE
    for name in PAGES:
        found = set(re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`", documentation.source(name)))
        assert found <= known, name


@pytest.mark.parametrize("name", AT_THE_ROOT)
def test_every_file_that_is_linked_or_shown_exists(name: str) -> None:
    targets = re.findall(r"\]\(([^)\s]+)", text_of(name))
    relative = [target.partition("#")[0] for target in targets if not re.match(r"https?://|#|mailto:", target)]
    assert [target for target in relative if not (ROOT / target).exists()] == []


def test_the_readme_has_links_and_a_picture() -> None:
    text = text_of("README")
    assert len(re.findall(r"(?<!!)\[[^\]]+\]\([\w./-]+\)", text)) >= 5
    assert len(re.findall(r"!\[[^\]]+\]\([\w./-]+\)", text)) >= 1


@pytest.mark.parametrize("name", [*PAGES, *AT_THE_ROOT])
def test_pages_say_background_process_and_not_worker(name: str) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text_of(name), flags=re.MULTILINE | re.DOTALL)
    assert "worker" not in prose.lower()


def test_every_key_of_a_spec_has_a_row_or_a_table() -> None:
    text = documentation.source("spec")
    for key in {"base", *ClevrSpec.model_fields} - {"scene", "images", "questions", "vocabulary"}:
        assert f"\n| `{key}` |" in text, key
    for key in ("scene", "images", "questions"):
        assert f"\n| setting of `{key}` |" in text
        for parameter in ClevrSpec.model_fields[key].annotation.model_fields:  # type: ignore[union-attr]
            assert re.search(rf"^\| .*`{parameter}[`.].*? \|", text, re.MULTILINE), parameter


def test_every_key_of_a_family_has_a_row() -> None:
    text = documentation.source("families")
    for key in ("params", "text", "nodes", "constraints", "family"):
        assert f"\n| `{key}` |" in text, key
    assert f"at most {MAX_OPERATIONS} operations" in text


def test_a_colour_of_the_release_stays_linear_as_the_page_says() -> None:
    text = documentation.source("vocabulary")
    said = re.search(r'`"colors": (\{"red": .+?\})` keeps red\'s\s`"space": "(\w+)"`', text)
    assert said is not None
    colors = json.loads(said[1])
    spec = read_spec({"base": "clevr-mini", "vocabulary": {"colors": colors}}, files={})
    assert spec.vocabulary.colors["red"].space == said[2] == "linear"
    assert list(spec.vocabulary.colors["red"].rgb) == colors["red"]["rgb"]


def test_a_page_warns_against_two_databases_with_one_folder() -> None:
    assert "Two databases must never share one `MEDIA_ROOT`" in " ".join(documentation.source("running").split())


@pytest.mark.parametrize("refusal", refusals(), ids=lambda refusal: refusal.page)
def test_commands_are_refused_with_the_message_on_the_page(refusal: Block, shell: Shell, folder: Path) -> None:
    for block in blocks(refusal.page):
        if block.file is not None:
            write(block, folder)
    command, _, words = refusal.body.partition("\n")
    ended = shell(command)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", words)


def test_the_spec_page_shows_a_refusal() -> None:
    assert "spec" in [refusal.page for refusal in refusals()]


@pytest.mark.slow
@pytest.mark.parametrize("name", with_commands())
def test_the_commands_of_a_page_run(name: str, shell: Shell, folder: Path) -> None:
    for block in blocks(name):
        if block.file is not None:
            write(block, folder)
        elif block.kind == "run":
            for line in block.body.splitlines():
                ended = shell(line)
                assert ended.returncode == 0, f"{line}\n{ended.stderr}"
