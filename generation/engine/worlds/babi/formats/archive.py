"""Access to the release's archive without unpacking all of it: its file names and their contents."""

import tarfile
import tempfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from generation.engine.errors import BadRecord
from generation.engine.reading.folders import is_left_behind
from generation.engine.reading.published_files import plain_name
from generation.engine.worlds.babi.formats.file_names import parse_file_name

SUFFIXES = (".tar.gz", ".tgz", ".tar")
MOST_MEMBERS, MOST_BYTES = 10_000, 2 << 30
COPIED = 1 << 20  # bytes at a time


def is_archive(path: Path) -> bool:
    """Return whether a file's name is that of an archive."""
    return path.name.lower().endswith(SUFFIXES)


def members(path: Path) -> list[str]:
    """Return the names of the release's files in an archive; raise `BadRecord` if it cannot be read."""
    with path.open("rb") as file, _open(file, name=path.name) as found:
        return [member.name for member in found if _is_of_release(PurePosixPath(member.name))]


def _is_of_release(member: PurePosixPath) -> bool:
    is_left = any(map(is_left_behind, (part for part in member.parts if part != "..")))
    return not is_left and parse_file_name(plain_name(member.name)) is not None


@contextmanager
def unpack_members(file: Any, wanted: Collection[str], *, name: str) -> Iterator[Mapping[str, Path]]:
    """Provide temporary files with the contents of the wanted members, by the members' names."""
    with tempfile.TemporaryDirectory(prefix="horsesense-") as folder, _open(file, name=name) as found:
        paths: dict[str, Path] = {}
        left = MOST_BYTES
        for member in found:
            if member.name not in wanted or member.name in paths:
                continue
            path = Path(folder, f"{len(paths)}.txt")  # not the member's name, which may be hostile
            left -= member.size
            if left < 0:
                raise BadRecord(f"Expected at most {MOST_BYTES >> 30} GiB of stories, got more.", where=name)
            _copy(found, member, path)
            paths[member.name] = path
        yield paths


def _copy(archive: "_Members", member: tarfile.TarInfo, path: Path) -> None:
    content = archive.archive.extractfile(member)
    assert content is not None  # iteration yields only regular files
    with path.open("wb") as file:
        while block := content.read(COPIED):
            file.write(block)


class _Members:
    """The regular files of an archive, in order."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self.archive = archive

    def __iter__(self) -> Iterator[tarfile.TarInfo]:
        for number, member in enumerate(self.archive):
            if number >= MOST_MEMBERS:
                raise BadRecord(f"Expected at most {MOST_MEMBERS:,} files in an archive, got more.")
            if member.isreg():
                yield member


@contextmanager
def _open(file: Any, *, name: str) -> Iterator[_Members]:
    try:
        with tarfile.open(fileobj=file, mode="r|*") as archive:
            yield _Members(archive)
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise BadRecord(
            "Expected an archive that can be read, got something else or a part of one. Download it again.",
            where=name,
        ) from error
