"""A folder as one file: a zip whose bytes follow from what is in the folder alone."""

import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

A_LONG_TIME_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment a zip file knows
PACKED = {".json", ".md", ".csv", ".txt", ".yaml", ".tsv", ".py", ".svg", ""}  # the others are compressed already
STEP = 1 << 20
MODE = 0o644 << 16


def write_zip(folder: Path, path: Path, *, top: str, check: Callable[[], None] = lambda: None) -> int:
    """Return the size of the zip file that was written of a folder, in bytes.

    Parameters
    ----------
    folder : Path
    path : Path
        Where the file is written; the disk has it afterwards.
    top : str
        The folder that unpacking it makes.
    check : callable
        Called now and then; what it raises stops the writing.
    """
    with path.open("wb") as file:
        with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
            for source in sorted(entry for entry in folder.rglob("*") if entry.is_file()):
                _add(archive, source, f"{top}/{source.relative_to(folder).as_posix()}", check=check)
        file.flush()
        os.fsync(file.fileno())
    return path.stat().st_size


def _add(archive: zipfile.ZipFile, source: Path, name: str, *, check: Callable[[], None]) -> None:
    entry = zipfile.ZipInfo(name, A_LONG_TIME_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED if source.suffix in PACKED else zipfile.ZIP_STORED
    entry.external_attr, entry.file_size = MODE, source.stat().st_size
    with source.open("rb") as content, archive.open(entry, "w") as packed:
        while part := content.read(STEP):
            check()
            packed.write(part)


def drop(path: Path) -> None:
    """Delete a file or folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
