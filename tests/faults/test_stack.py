"""The check that fault tests use: it finds data that is stored twice, missing or left over."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.faults.stack import SLUG, SPEC, Site

PICTURE = "datasets/1/train/0000/0000007.png"


def change_database(site: Site, command: str) -> None:
    with closing(sqlite3.connect(site.folder / "horsesense.sqlite3", timeout=20)) as file, file:
        file.execute(command)


@pytest.mark.full
def test_the_check_finds_data_that_is_stored_twice_missing_or_left_over(
    embedded_site: Site, undisturbed: Callable[[dict[str, Any]], str]
) -> None:
    site = embedded_site
    site.begin()
    assert site.manage("work", "--dataset", SLUG).returncode == 0
    assert site.fingerprint() == undisturbed(SPEC)
    assert (site.rows("chunk"), site.rows("scene"), site.rows("question")) == (12, 120, 360)
    site.check_stored_once()
    picture, media = site.folder / "media" / PICTURE, site.folder / "media"

    def expect_failure(match: str) -> None:
        with pytest.raises(AssertionError, match=match):
            site.check_stored_once()

    picture.rename(media / "elsewhere.png")
    expect_failure("files that no row names")
    (media / "elsewhere.png").rename(site.folder / "elsewhere.png")
    expect_failure("files that a row names and nobody has")
    (site.folder / "elsewhere.png").rename(picture)
    stranger = write_file(media / "index" / ("0" * 64) / "manifest.json")
    expect_failure("files that no row names")
    stranger.unlink()
    left = write_file(picture.with_name(f".{picture.name}.0123abcd"))
    lasting = write_file(site.folder / ".anything.0123abcd")
    expect_failure("temporary files that housekeeping leaves")
    assert not left.exists()
    lasting.unlink()
    for command, match in (
        (f"UPDATE generation_scene SET image = '{PICTURE}' WHERE position = 8", "share a picture"),
        ("DELETE FROM generation_question WHERE position = 5", "questions of rows/"),
        ("UPDATE generation_scene SET position = 1000 WHERE position = 8", "scenes of rows/"),
    ):
        change_database(site, command)
        expect_failure(match)


def write_file(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"left over")
    return path
