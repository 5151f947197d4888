"""Files of a folder that a reader leaves out, and what a refused file is.

A folder is not imported without some of its data: a packed file, and records under another name, are refused by name.
Files that are clearly no data, such as `package.json`, are left out, and the import names them.
"""

import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from generation.engine.errors import BadRecord
from generation.engine.reading.bounded_json import BadJson, loads
from generation.engine.reading.dataset_reader import FoundFiles
from generation.engine.reading.folders import is_left_behind, walk
from generation.engine.reading.other_sets import describe_picture
from generation.engine.reading.published_files import describe, is_json, open_published, sets_of
from generation.engine.reading.sidecar_reader import BESIDE

PICTURES = (".png", ".jpg", ".jpeg")
PACKED = (".gz", ".tgz", ".zip", ".bz2", ".tbz2", ".xz", ".txz", ".lzma", ".zst", ".lz4", ".7z", ".rar", ".tar", ".z")
TABLES = (
    *(".parquet", ".arrow", ".feather", ".jsonl", ".ndjson", ".csv", ".tsv", ".xls", ".xlsx", ".h5", ".hdf5", ".npy"),
    *(".npz", ".pkl", ".pickle", ".p", ".pt", ".pth", ".tfrecord", ".mdb", ".db", ".sqlite", ".mat", ".xml"),
)
LINES = (".jsonl", ".ndjson")
RECORDS = (".json", ".txt", *TABLES)  # of files in an archive that may be data
# JSON files of programs and catalogues
ASIDE = frozenset(
    f"{name}.json"
    for name in (
        *("package", "package-lock", "composer", "tsconfig", "settings", "launch", "args", "config", "vocab"),
        *("dataset_info", "dataset_infos", "dataset_dict", "state", "dataset-metadata", "datapackage", "croissant"),
        *("codemeta", "zenodo", "manifest", "readme", "license", "citation"),
    )
)
DATA = re.compile(r"questions?|scenes?|annotations?|instances|captions|answers|train|val|test", re.IGNORECASE)
LARGEST = 1 << 20  # bytes of a JSON file that is read completely to find out what it is
MOST_FILES = 50  # files that are looked into
MOST_NAMED = 10
MOVE = "or move it out of the folder"


def is_aside(path: Path) -> bool:
    """Return whether a JSON file is clearly no data: by its name, or because it is an object of single values.

    A file with the name of data is none of these; its object may be a server's message of an error.
    """
    if path.name.lower() in ASIDE:
        return True
    if DATA.search(path.name):
        return False
    with suppress(BadRecord, BadJson, OSError), closing(open_published(path)) as file:
        content = file.read(LARGEST)
        data = loads(content) if len(content) < LARGEST else None
        return isinstance(data, dict) and bool(data) and not any(isinstance(one, dict | list) for one in data.values())
    return False


def check_files(files: Mapping[str, Path], *, format: str, label: str) -> None:
    """Raise `BadRecord` if a file is not one of the format. Names are those in messages; paths are on this disk."""
    for name, path in files.items():
        try:
            other = describe(path, format=format, name=PurePosixPath(name).name)
        except BadRecord as error:
            raise BadRecord(error.reason, where=name) from error
        if other:
            raise BadRecord(f"Expected {label}, got {other}.", where=name)


def check_found(found: FoundFiles, paths: Sequence[Path], *, format: str, label: str) -> FoundFiles:
    """Return what was found in files and folders, with the names of the data files that are left out.

    Raises
    ------
    BadRecord
        If a file that was found is of another set, or a folder has a file that may be part of the dataset and cannot
        be read.
    """
    taken = {path: Path(path) for split in found.splits for path in split.files.values()}
    check_files(taken, format=format, label=label)
    every = [one for path in paths if path.is_dir() for one in _files_in(path)]
    unread = [one for one in every if str(one) not in taken]
    names = {one.name for one in every if not one.name.startswith(".")}
    for one in unread:
        if lost := _describe_lost(one, names, format=format):
            raise BadRecord(f"Expected {label}, in files that can be read, got {lost}, {MOVE}.", where=str(one))
    left = [one for one in unread if _may_be_data(one)]
    if not taken and (data := next((one for one in left if not _is_packed(one) and not is_aside(one)), None)):
        other = describe(data, format=format) or "another file, which may have its questions or scenes"
        raise BadRecord(
            f"Expected {label}, or pictures alone, got {other}. To import the pictures alone, move it out of the "
            "folder.",
            where=str(data),
        )
    more = (f"{len(left) - MOST_NAMED:,} more",) if len(left) > MOST_NAMED else ()
    return replace(found, left=(*found.left, *map(str, left[:MOST_NAMED]), *more))


def explain(error: BadRecord, files: Iterable[tuple[str, Path]], *, format: str, label: str) -> BadRecord:
    """Return an error that says what a file is, if it is a well-known one that the format does not have; else `error`.

    Parameters
    ----------
    error : BadRecord
        Why the files were refused. If it names one of them, only this one is looked at; if it names none, all are.
    files : iterable of (str, Path)
        The names of files and folders in messages, and their paths.
    format, label : str
        The chosen format: its name in commands, and its name for people.
    """
    given = list(files)
    with suppress(BadRecord):  # a folder that cannot be read
        each = [(name if one == path else str(one), one) for name, path in given for one in _files_in(path)]
        found = [(name, one) for name, one in each if _is_named(error.where, name, one)]
        if not found and error.where == ", ".join(name for name, _ in given):
            found = [(name, one) for name, one in each if _may_be_data(one) or _describe_lost(one, (), format=format)]
            found += [(name, one) for name, one in each if one.suffix.lower() in PICTURES][:1]
        for name, one in found[:MOST_FILES]:
            with suppress(BadRecord, OSError):
                if other := _describe_any(one, format=format) or _describe_lost(one, (), format=format):
                    return BadRecord(f"Expected {label}, got {other}.", where=name)
    return error


def _is_named(where: str, name: str, path: Path) -> bool:
    return any(where == one or where.startswith(f"{one}, ") for one in (name, str(path), path.name))


def _describe_any(path: Path, *, format: str) -> str:
    if path.suffix.lower() in PICTURES:
        label = describe_picture(path.stem)
        return f"pictures of {label}" if label else ""
    return describe(path, format=format) or _describe_name(path)


def _describe_name(path: Path) -> str:
    """Return what a file is whose name says that it is packed, or is not read here."""
    if _is_packed(path):
        return f"a packed file, {path.name}: unpack it"
    suffix = path.suffix.lower()
    return f"a {suffix} file, which is not read here" if suffix in TABLES else ""


def _files_in(path: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder, also hidden ones, but not what our exports keep beside a release."""
    if not path.is_dir():
        yield path
        return
    for folder in walk(path, skipped=(BESIDE,)):
        if folder.path.name != BESIDE:
            yield from (*folder.files, *folder.hidden)


def _may_be_data(path: Path) -> bool:
    """Return whether a file, by its name, may have data that are left out."""
    name = path.name.lower()
    return not name.startswith(".") and (".json" in name or path.suffix.lower() in TABLES or _is_packed(path))


def _is_packed(path: Path) -> bool:
    """Return whether a file is packed, by its name; JSON packed with gzip is read as it is."""
    return path.suffix.lower() in PACKED and not is_json(path)


def _describe_lost(path: Path, names: Collection[str], *, format: str) -> str:
    """Return what a file is, and what to do, if it has or may have data of the format in a form that is not read.

    `names` has the names of all files in the folder: a packed file is no loss if its content is there too.
    """
    suffix = path.suffix.lower()
    if _is_packed(path) and not path.name.startswith("."):
        return "" if _is_unpacked(path, names) else _describe_any(path, format=format)
    if suffix in LINES or (suffix not in (*TABLES, *PICTURES) and (path.name.startswith(".") or not is_json(path))):
        plain = _usual_name(path.name)
        if plain not in names and _is_own(path, format=format):
            return describe(path, format=format) or f"a file of it under another name: call it {plain}"
    return ""


def _usual_name(name: str) -> str:
    """Return the name that a JSON file has when it is not hidden, and ends in `.json`."""
    visible = name.lstrip(".")
    at = visible.lower().find(".json")
    return f"{visible[:at] if at >= 0 else PurePosixPath(visible).stem}.json"


def _is_own(path: Path, *, format: str) -> bool:
    with suppress(BadRecord):
        return any(format in one.formats for one in sets_of(path)[:1])
    return False


def _is_unpacked(path: Path, names: Collection[str]) -> bool:
    """Return whether a packed file's content is there too: as the folder or file of its name, or file by file."""
    plain = path
    while plain.suffix.lower() in PACKED:
        plain = plain.with_suffix("")
        if plain.exists():
            return True
    with suppress(OSError, zipfile.BadZipFile, ValueError), zipfile.ZipFile(path) as archive:
        inside = [PurePosixPath(name) for name in archive.namelist()]
        records = [one for one in inside if one.name.lower().endswith((*RECORDS, *PACKED))]
        return all(one.name in names for one in records if not any(map(is_left_behind, one.parts)))
    return False
