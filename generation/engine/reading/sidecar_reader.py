"""The folder `horsesense/` beside a release in our exports. It contains what the release leaves out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from generation.engine.errors import BadRecord
from generation.engine.reading.bounded_json import BadJson, loads
from generation.engine.reading.folders import list_files

BESIDE = "horsesense"
OURS = ("dataset.json", "spec.json")
ABOUT = ("title", "description", "authors", "version", "citation")


class SideFacts(NamedTuple):
    """The content of the folder: facts about the dataset, the spec as JSON, and the spec's files by digest."""

    about: dict[str, Any]
    spec: dict[str, Any]
    contents: dict[str, bytes]

    @property
    def usual(self) -> dict[str, Any]:
        """The usual facts about a dataset, such as title and authors."""
        return {name: self.about.get(name, "") for name in ABOUT}


def beside(paths: Sequence[Path]) -> Path | None:
    """Return the folder `horsesense/` in or beside one of these paths, or None."""
    for path in paths:
        for folder in (path, path / BESIDE, path.parent / BESIDE):
            if folder.name == BESIDE and (folder / OURS[0]).is_file():
                return folder
    return None


def read_side_facts(ours: Path) -> SideFacts:
    """Return the content of the folder `horsesense/`; raise `BadRecord` if a file cannot be read."""
    folder = ours / "files"
    contents = {path.name: path.read_bytes() for path in list_files(folder)} if folder.is_dir() else {}
    return SideFacts(_object(ours / OURS[0]), _object(ours / OURS[1]), contents)


def _object(path: Path) -> dict[str, Any]:
    try:
        data = loads(path.read_bytes())
    except BadJson as error:
        raise BadRecord(str(error), where=str(path)) from error
    except OSError as error:
        raise BadRecord(f"Expected a file that can be read, got: {error.strerror}.", where=str(path)) from error
    if not isinstance(data, dict):
        raise BadRecord(f"Expected a JSON object, got {type(data).__name__}.", where=str(path))
    return data
