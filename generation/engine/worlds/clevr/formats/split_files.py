"""The assignment of files to splits, by their content and not by their names.

Folders are searched, so that the release's folder, one of its parts, and the output of the original generator are all
found. Our exports have a folder `horsesense/` beside the release's folder, with more data.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from generation.engine.errors import BadRecord
from generation.engine.reading.bounded_json import BadJson, Guarded
from generation.engine.reading.dataset_reader import Open, SplitFiles, shorten
from generation.engine.reading.folders import walk
from generation.engine.reading.json_stream import JsonText, NoList
from generation.engine.reading.other_sets import describe_picture
from generation.engine.reading.published_files import is_json, open_published, plain_name
from generation.engine.reading.sidecar_reader import BESIDE, OURS
from generation.engine.reading.unread_files import PICTURES, is_aside
from generation.engine.spec import RESERVED_SPLITS

KINDS = ("scenes", "questions", "views")
ORDER = ("train", "val", "test", "trainA", "valA", "valB", "testA", "testB")
PICTURE = re.compile(r"(?:[^_]*_)?(.*?)_?([0-9]{1,9})\.(?:png|jpe?g)", re.IGNORECASE)
SPLIT = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,39}")
NAMED = re.compile(r"CLEVR_([A-Za-z0-9-]+)_(?:scenes|questions)\.json", re.IGNORECASE)
USUAL = {name.lower(): name for name in ORDER}  # splits by their names in small letters
NAME = "CLEVR"
UNNAMED = "main"  # the split of records that name none or `new`, which the generator writes
MOST_NAMES = 30  # keys of a scene that are read at most


class RecordFile(NamedTuple):
    """A file of records: its kind and its split."""

    kind: str
    split: str
    path: str
    is_beside: bool = False


class Parts:
    """Collects files and folders of pictures by split; a file of ours replaces the release's file of the same kind.

    `others` has pictures with names that are not CLEVR's, one for each folder and split. They belong to the dataset
    only if their split has records.
    """

    def __init__(self) -> None:
        self.files: dict[str, dict[str, RecordFile]] = {}
        self.pictures: dict[str, str] = {}
        self.others: list[tuple[str, Path]] = []

    def add(self, part: RecordFile) -> None:
        """Add a file; raise `BadRecord` if there already is one of the same kind and split."""
        kept = self.files.setdefault(part.split, {})
        if part.kind not in kept or (part.is_beside and not kept[part.kind].is_beside):
            kept[part.kind] = part
        elif part.is_beside == kept[part.kind].is_beside:
            raise BadRecord(
                f"Expected one file with {part.kind} of {part.split}, got also {kept[part.kind].path}.", where=part.path
            )

    def add_pictures(self, split: str, folder: str) -> None:
        """Add a folder of pictures; raise `BadRecord` if the split already has another one."""
        if self.pictures.setdefault(split, folder) != folder:
            raise BadRecord(
                f"Expected one folder of pictures of {split}, got also {self.pictures[split]}. Remove one of them.",
                where=folder,
            )

    def add_others(self) -> list[str]:
        """Add pictures whose names are not CLEVR's to splits with records; return the others, one of each folder."""
        unused = []
        for split, path in self.others:
            if split in self.files and split not in self.pictures:
                self.pictures[split] = str(path.parent)
            elif self.pictures.get(split) != str(path.parent):
                unused.append(str(path))
        return unused

    def splits(self) -> tuple[SplitFiles, ...]:
        """Return the splits in their usual order."""
        names = sorted(self.files.keys() | self.pictures.keys(), key=_rank)
        return tuple(self._split(name) for name in names)

    def _split(self, name: str) -> SplitFiles:
        files = {kind: part.path for kind, part in sorted(self.files.get(name, {}).items())}
        return SplitFiles(name, files, self.pictures.get(name, ""))


def search(paths: Sequence[Path]) -> Parts:
    """Return the contents of files and folders; raise `BadRecord` for a path that is missing or not usable."""
    parts = Parts()
    for path in paths:
        if path.is_dir():
            _search_folder(path, parts)
        elif not path.is_file():
            raise BadRecord("Expected a file or a folder, got nothing.", where=str(path))
        elif is_json(path):
            parts.add(_read_part(path))
        else:
            raise BadRecord(
                "Expected a JSON file, also packed with gzip, or a folder. Unpack other archives.", where=str(path)
            )
    return parts


def _search_folder(folder: Path, parts: Parts) -> None:
    for place, entries, _ in walk(folder):
        is_beside = BESIDE in (folder.name, *place.relative_to(folder).parts)
        files = [path for path in entries if is_json(path) and path.name not in OURS]
        first = next((path for path in files if not is_aside(path)), None)
        if first is not None and not _is_single(first):
            for path in files:
                if path == first or not is_aside(path):
                    parts.add(_read_part(path)._replace(is_beside=is_beside))
        pictures = [path for path in entries if path.suffix.lower() in PICTURES]
        for path in {split_of_picture(path): path for path in reversed(pictures)}.values():
            if describe_picture(path.stem) == NAME:
                parts.add_pictures(split_of_picture(path), str(place))
            else:
                parts.others.append((split_of_picture(path), path))


def _read_part(path: Path) -> RecordFile:
    with closing(open_published(path)) as file:
        kind, split = sniff(file, name=path.name)
    return RecordFile(kind, split, str(path))


def _is_single(path: Path) -> bool:
    """Return whether a file is a single scene; the generator writes each scene into its own file too."""
    with closing(open_published(path)) as file, suppress(ValueError):
        text = JsonText(Guarded(file))
        for name in islice(text.names(), MOST_NAMES):
            if name == "objects" or name in KINDS:
                return name == "objects"
            text.skip()
    return False


def sort(names: Sequence[str], *, opened: Open) -> Parts:
    """Return the kinds and splits of single files."""
    parts = Parts()
    for name in names:
        with opened(name) as file:
            kind, split = sniff(file, name=PurePosixPath(name).name)
        parts.add(RecordFile(kind, split, name))
    return parts


def sniff(file: Any, *, name: str) -> tuple[str, str]:
    """Return the kind and the split of a file of records, from its first record; raise `BadRecord`."""
    kind = split = ""
    text = JsonText(Guarded(file))
    try:
        for key in text.names():
            if key == "info":
                split = _split_of(text.value())
            elif key in KINDS:
                text.check_list(key)
                kind = key
                first = text.first()
                if first is None:
                    raise NoList(
                        f"Expected records in {key}, got an empty list. Download the file again, or remove it."
                    )
                split = _split_of(first) or split
                break
            else:
                text.skip()
    except (BadJson, NoList) as error:
        raise BadRecord(str(error), where=name) from error
    except ValueError as error:
        if not kind:  # otherwise the reader of the records reports the first broken record
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise BadRecord(f"Expected JSON, got something else ({reason}).", where=name) from error
    if not kind:
        raise BadRecord("Expected a file with a list of scenes or questions, got one without.", where=name)
    return kind, split_name(split, name)


def licence_of(file: Any) -> str:
    """Return the licence that a file names before its records, or an empty string."""
    return str(_info_of(file).get("license", ""))[:100]


def rotation_of(file: Any, *, name: str, usual: str = "radians") -> str:
    """Return the unit of `rotation` in a file of scenes; `usual` if its `info` names none, as in the release."""
    unit = _info_of(file).get("rotation", usual)
    if unit not in ("radians", "degrees"):
        raise BadRecord(f"Expected radians or degrees, got {shorten(unit)}.", where=f"{name}, info.rotation")
    return str(unit)


def _info_of(file: Any) -> Mapping[str, Any]:
    """Return the `info` before a file's records; empty if there is none."""
    text = JsonText(Guarded(file))
    with suppress(ValueError):  # the reader of the records reports it
        for key in text.names():
            if key == "info":
                said = text.value()
                return said if isinstance(said, dict) else {}
            if key in KINDS:
                break
            text.skip()
    return {}


def _split_of(record: Any) -> str:
    said = record.get("split") if isinstance(record, dict) else None
    return "" if said is None else str(said)


def split_name(split: str, file: str) -> str:
    """Return a split's name, from records or else from the file's name; raise `BadRecord` for a malformed name."""
    if not split and (found := NAMED.fullmatch(plain_name(file))):
        split = USUAL.get(found[1].lower(), found[1])
    if not split or split in RESERVED_SPLITS:
        return UNNAMED
    if not SPLIT.fullmatch(split):
        raise BadRecord(f"Expected a split's name (letters, digits, - and _), got {shorten(split)}.", where=file)
    return split


def split_of_picture(path: Path) -> str:
    """Return the split in a picture's name, or else its folder's name; empty if that is no name of a split."""
    found = PICTURE.fullmatch(path.name)
    split = found[1] if found and found[1] else path.parent.name
    return split_name(USUAL.get(split.lower(), split), path.name) if SPLIT.fullmatch(split) else ""


def picture_number(name: str) -> int | None:
    """Return the number in a picture's file name, or None if there is none."""
    found = PICTURE.fullmatch(name)
    return int(found[2]) if found else None


def _rank(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def references(names: Mapping[str, Any]) -> dict[str, str]:
    """Return the reference of each split: `trainA` if the splits are CoGenT's, otherwise none."""
    if "train" in names or "trainA" not in names:
        return {}
    return {name: "trainA" for name in names if name != "trainA"}
