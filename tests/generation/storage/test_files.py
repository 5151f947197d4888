"""Files that a process which was killed never finished."""

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
    """Give a folder of files of the test's own."""
    settings.MEDIA_ROOT, settings.VAR_DIR = tmp_path / "media", tmp_path
    return tmp_path / "media"


def written(path: Path, *, hours: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"half of it")
    then = time.time() - hours * 3600
    os.utime(path, (then, then))
    return path


@pytest.mark.django_db
def test_housekeeping_drops_what_was_never_finished_a_day_later(media: Path) -> None:
    picture, index = files.draft_name("0000001.png"), files.draft_name("split-1")
    old = [
        written(media / "datasets/1/train/0000" / picture, hours=25),
        written(media.parent / "cache" / picture, hours=25),
    ]
    folder = written(media / "index" / index / "answers.npy", hours=1).parent
    os.utime(folder, (0, 0))
    kept = [
        written(media / "datasets/1/train/0000" / files.draft_name("0000002.png"), hours=23),
        written(media / "datasets/1/train/0000/0000002.png", hours=25),
        written(media / ".nfs0000000012345678", hours=25),
        written(media.parent / picture, hours=25),
    ]
    tidy_up()
    assert not [path for path in (*old, folder) if path.exists()]
    assert all(path.exists() for path in kept)


@pytest.mark.django_db
def test_temporary_files_of_killed_uploads_go_a_day_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "temporary"
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for name in ("tmp1a2b.upload", "tmp3c4d.upload.json", "predictions-x1"):
        written(place / name, hours=25)
    os.utime(written(place / "horsesense-reading-y2/val.txt", hours=1).parent, (0, 0))
    kept = [written(place / "tmp5e6f.upload", hours=23), written(place / "somebody-else.upload", hours=25)]
    tidy_up()
    assert sorted(place.iterdir()) == sorted(kept)


def test_a_file_is_written_under_a_name_by_which_it_is_found_again(
    media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = []

    def die(path: Path, content: bytes) -> None:
        left.append(written(path, hours=25))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(files, "write_synced", die)
        patched.setattr(Path, "unlink", lambda path, missing_ok: None)  # as after kill -9
        with pytest.raises(KeyboardInterrupt):
            files.put("datasets/1/0000001.png", b"all of it")
    assert left[0].exists()
    assert files.drop_abandoned() == 1
    assert not left[0].exists()


def test_every_stored_file_is_written_where_the_disk_reserve_is_asked_about() -> None:
    """Only these modules hand content to the storage; each asks first."""
    root = Path(__file__).resolve().parents[3]
    sources = [path for folder in ("generation", "annotations", "webapp") for path in (root / folder).rglob("*.py")]
    writing = [path for path in sources if re.search(r"default_storage\.save\(|shutil\.move\(", path.read_text())]
    names = {str(path.relative_to(root)) for path in writing}
    assert names == {"generation/storage/files.py", "generation/views/importing.py"}
    for path in (*writing, root / "webapp/backups/stored_files.py"):
        assert re.search(r"check_reserve\(\)|disk_shortage\(\)", path.read_text()), path
