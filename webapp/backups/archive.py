"""The archive's format: a tar file with members in a fixed order; the last member has their number and digest.

::

    header.json                       the release that wrote the archive, and the columns of its tables
    secrets.json                      secrets that the site generated
    tables/<model>/<number>.jsonl.gz  rows, one JSON list per line; every table has at least one part
    files/<name>                      files of the storage, in order
    contents.json                     the numbers of members, rows and files, and one digest over all earlier members

An archive of any size is written and read in one pass, and `tar` and `gunzip` can open it without this program.

This is format 1. In format 2, the files are outside the tar file, and all backups of a folder share them. Instead of
`files/<name>`, the tar file has the members `stored/<number>.jsonl.gz` with one JSON list per file (name, size,
version, SHA-256). The content of a file is stored in `objects/<first two digits>/<SHA-256>` next to the tar file.
"""

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from generation.engine.errors import EngineError
from generation.program_version import describe

FORMAT, SHARING = 1, 2  # the files are in the archive, or outside it and shared with other archives
FORMATS = (FORMAT, SHARING)
HEADER, SECRETS, CONTENTS = "header.json", "secrets.json", "contents.json"
PART = re.compile(r"tables/([A-Za-z0-9_.]+)/(\d{6})\.jsonl\.gz")
LIST = re.compile(r"stored/(\d{6})\.jsonl\.gz")
FILES = "files/"
OBJECTS = "objects"
SHA256 = re.compile(r"[0-9a-f]{64}")
BLOCK = 1024 * 1024
NAME_LENGTH = 1024
UNWANTED = re.compile(r"[\x00-\x1f\x7f\\]")


class BadArchive(EngineError):
    """The file is not an archive of this program, or it is damaged or was changed."""


class Header(BaseModel):
    """The release that wrote an archive, and the columns of its tables.

    Attributes
    ----------
    migrations : dict of str to list of str
        The applied migrations of each app.
    tables : dict of str to list of str
        The columns of each model, in the order in which a row has them.
    pictures : bool
        Whether the archive contains the pictures that this program can draw again.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    release: str
    engine_version: str
    made: datetime
    database: str
    pictures: bool
    migrations: dict[str, list[str]]
    tables: dict[str, list[str]]

    @property
    def program(self) -> str:
        return describe(release=self.release, engine_version=self.engine_version)


class Contents(BaseModel):
    """The content of an archive, as its last member states it.

    Attributes
    ----------
    digest : str
        SHA-256 over the name, size and SHA-256 of each earlier member.
    rows : dict of str to int
        Number of rows for each model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    digest: str
    members: int
    rows: dict[str, int]
    files: int
    file_bytes: int


class OutsideFile(NamedTuple):
    """A file whose content is outside the archive, in the folder `objects`."""

    name: str
    size: int
    version: str
    digest: str


def object_path(folder: Path, digest: str) -> Path:
    return folder / OBJECTS / digest[:2] / digest


class Chain:
    """The digest over the members so far, and their number."""

    def __init__(self) -> None:
        self.members = 0
        self._hash = hashlib.sha256()

    def add(self, name: str, size: int, digest: str) -> None:
        self._hash.update(json.dumps([name, size, digest]).encode())
        self.members += 1

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


class DigestedStream:
    """A stream that computes a digest while it is read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self.stream.read(size)
        self.hash.update(content)
        return content


class Writer:
    """Writes an archive without keeping its content in memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self.tar = tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self.chain = Chain()
        self.files = self.file_bytes = 0

    def add(self, name: str, content: bytes) -> None:
        self.tar.addfile(_described(name, len(content)), io.BytesIO(content))
        forget(self.tar)
        self.chain.add(name, len(content), hashlib.sha256(content).hexdigest())

    def add_json(self, name: str, content: Any) -> None:
        self.add(name, json.dumps(content, indent=1).encode())

    def add_file(self, name: str, stream: IO[bytes], *, size: int) -> None:
        digested = DigestedStream(stream)
        self.tar.addfile(_described(FILES + name, size), digested)
        forget(self.tar)
        self.chain.add(FILES + name, size, digested.hash.hexdigest())
        self.files += 1
        self.file_bytes += size

    def add_list(self, number: int, part: bytes, *, listed: Sequence[OutsideFile]) -> None:
        self.add(f"stored/{number:06d}.jsonl.gz", part)
        self.files += len(listed)
        self.file_bytes += sum(file.size for file in listed)

    def finish(self, *, rows: Mapping[str, int]) -> Contents:
        """Write the contents member, close the archive and return the contents."""
        contents = Contents(
            digest=self.chain.hexdigest(),
            members=self.chain.members,
            rows=dict(rows),
            files=self.files,
            file_bytes=self.file_bytes,
        )
        self.add(CONTENTS, contents.model_dump_json(indent=1).encode())
        self.tar.close()
        return contents


def is_plain_name(name: str) -> bool:
    parts = name.split("/")
    plain = all(part and not part.startswith(".") for part in parts)
    return plain and len(name) <= NAME_LENGTH and not UNWANTED.search(name)


def forget(tar: tarfile.TarFile) -> None:
    tar.members.clear()  # type: ignore[attr-defined]


def _described(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info
