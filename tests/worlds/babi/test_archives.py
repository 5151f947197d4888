"""Folders and files within archives of the release."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from generation.engine.reading.dataset_reader import find_reader
from generation.engine.worlds import get_world
from generation.making.import_process import answers
from generation.making.import_sandbox import ReadingOrder
from tests.worlds.test_folders_of_strangers import STORY
from tests.worlds.test_unread_files import find


def archive(path: Path, *names: str) -> Path:
    """Write an archive with a story under each of the names."""
    with tarfile.open(path, "w:gz") as file:
        for name in names:
            content = gzip.compress(STORY.encode()) if name.lower().endswith(".gz") else STORY.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return path


QA1 = "qa1_single-supporting-fact_train"


def test_a_folder_in_an_archive_is_found_by_its_whole_name(tmp_path: Path) -> None:
    path = archive(tmp_path / "t.tar.gz", f"t/en/{QA1}.txt", f"t/shuffled-en/{QA1}.txt", f"__MACOSX/t/en/{QA1}.txt")
    [split] = find("babi", path / "en").splits
    assert split.files == {f"qa1@t/en/{QA1}.txt": str(path)}


@pytest.mark.parametrize("end", [".TXT", ".txt.gz", ".TXT.GZ"])
def test_members_of_an_archive_may_be_packed_or_in_capitals(tmp_path: Path, end: str) -> None:
    path = archive(tmp_path / "t.tar.gz", f"t/en/{QA1}{end}")
    found = find("babi", path)
    spec = get_world("babi").read_spec(find_reader("babi").spec(found))
    order = ReadingOrder("read", "babi", places={str(path): str(path)}, split=found.splits[0], spec=spec)
    _, batch, _ = answers(order)
    assert [one.item.questions[0].answer.text for one in batch.reads] == ["bathroom"]
