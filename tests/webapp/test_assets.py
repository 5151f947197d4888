"""Styles and scripts: their addresses change with their content, so that browsers may cache them forever."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from webapp.assets import version_of


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with two files, one of them in a subfolder."""
    (tmp_path / "static/js").mkdir(parents=True)
    (tmp_path / "static/app.css").write_text("body {}")
    (tmp_path / "static/js/app.js").write_text("1")
    return tmp_path / "static"


def test_the_same_files_have_the_same_version(place: Path) -> None:
    assert re.fullmatch("[0-9a-f]{16}", version_of([place]))
    assert version_of([place]) == version_of([place])


def test_every_change_makes_another_version(place: Path) -> None:
    versions = [version_of([place])]
    (place / "js/app.js").write_text("2")
    versions.append(version_of([place]))
    (place / "js/app.js").rename(place / "js/main.js")
    versions.append(version_of([place]))
    (place / "js/main.js").rename(place / "main.js")
    versions.append(version_of([place]))
    (place / "more.css").touch()
    versions.append(version_of([place]))
    versions.append(version_of([place, place / "more.css"]))
    assert len(set(versions)) == 6


@pytest.mark.django_db
def test_every_style_and_script_of_a_page_may_be_cached_forever(client: Client) -> None:
    found = re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get("/").text)
    assert len(found) > 3
    for address in found:
        assert address.startswith(settings.STATIC_URL)
        answer = client.get(address)
        assert answer.status_code == 200
        assert answer["Cache-Control"] == "max-age=315360000, public, immutable"


def test_scripts_find_the_modules_that_they_import(client: Client) -> None:
    text = b"".join(client.get(f"{settings.STATIC_URL}js/app.js").streaming_content).decode()
    named = re.findall(r'from "\./([^"]+)"', text)
    assert named
    for name in named:
        assert client.get(f"{settings.STATIC_URL}js/{name}").status_code == 200


def test_files_of_another_version_are_404(client: Client) -> None:
    assert client.get("/static/0123456789abcdef/app.css").status_code == 404
