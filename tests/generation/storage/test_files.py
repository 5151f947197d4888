"""Files that killed processes left unfinished."""

import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from generation.storage import files
from webapp.running.housekeeping import tidy_up


@pytest.fixture
def media(tmp_path: Path, settings: Any) -> Path:
    """Give an empty media folder for this test."""
    settings.MEDIA_ROOT, settings.VAR_DIR = tmp_path / "media", tmp_path
    return tmp_path / "media"


def write_aged(path: Path, *, hours: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"half of it")
    then = time.time() - hours * 3600
    os.utime(path, (then, then))
    return path


@pytest.mark.django_db
def test_housekeeping_removes_drafts_older_than_a_day(media: Path) -> None:
    picture, index = files.draft_name("0000001.png"), files.draft_name("split-1")
    old = [
        write_aged(media / "datasets/1/train/0000" / picture, hours=25),
        write_aged(media.parent / "cache" / picture, hours=25),
    ]
    folder = write_aged(media / "index" / index / "answers.npy", hours=1).parent
    os.utime(folder, (0, 0))
    kept = [
        write_aged(media / "datasets/1/train/0000" / files.draft_name("0000002.png"), hours=23),
        write_aged(media / "datasets/1/train/0000/0000002.png", hours=25),
        write_aged(media / ".nfs0000000012345678", hours=25),
        write_aged(media.parent / picture, hours=25),
    ]
    tidy_up()
    assert not [path for path in (*old, folder) if path.exists()]
    assert all(path.exists() for path in kept)


@pytest.mark.django_db
def test_housekeeping_removes_temporary_uploads_older_than_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for name in ("tmp1a2b.upload", "tmp3c4d.upload.json", "predictions-x1"):
        write_aged(place / name, hours=25)
    os.utime(write_aged(place / "horsesense-reading-y2/val.txt", hours=1).parent, (0, 0))
    kept = [write_aged(place / "tmp5e6f.upload", hours=23), write_aged(place / "somebody-else.upload", hours=25)]
    tidy_up()
    assert sorted(place.iterdir()) == sorted(kept)


def test_the_draft_of_a_killed_write_is_found_and_removed(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = []

    def write_then_interrupt(path: Path, content: bytes) -> None:
        left.append(write_aged(path, hours=25))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(files, "write_synced", write_then_interrupt)
        patched.setattr(Path, "unlink", lambda path, missing_ok: None)  # as after kill -9
        with pytest.raises(KeyboardInterrupt):
            files.put("datasets/1/0000001.png", b"all of it")
    assert left[0].exists()
    assert files.drop_abandoned() == 1
    assert not left[0].exists()


def test_every_module_that_writes_to_the_storage_checks_the_disk_reserve() -> None:
    """Only these modules write to the storage; each checks the disk reserve first."""
    root = Path(__file__).resolve().parents[3]
    sources = [path for folder in ("generation", "annotations", "webapp") for path in (root / folder).rglob("*.py")]
    writing = [path for path in sources if re.search(r"default_storage\.save\(|shutil\.move\(", path.read_text())]
    names = {str(path.relative_to(root)) for path in writing}
    assert names == {"generation/storage/files.py", "generation/views/importing.py"}
    for path in (*writing, root / "webapp/backups/stored_files.py"):
        assert re.search(r"check_reserve\(\)|disk_shortage\(\)", path.read_text()), path
