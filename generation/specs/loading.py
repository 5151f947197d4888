"""Loading specs: from a preset's name or a JSON file, with changes from the command line."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from generation.engine.errors import BadSpec
from generation.engine.reading.bounded_json import BadJson, loads
from generation.engine.spec import NO_FILES, merge
from generation.engine.worlds import find_preset, get_maker, get_world

DIGEST = re.compile(r"[0-9a-f]{64}")


class Source(NamedTuple):
    name: str  # for its dataset
    data: dict[str, Any]
    files: dict[str, bytes]  # by digest


def load(source: str, *, scenes_from: Path | None = None) -> Source:
    """Return the spec for a preset's name or a JSON file's path; raise `BadSpec`.

    With `scenes_from`, a published file of scenes, the spec asks questions about those scenes, in the file's own split.
    """
    path = Path(source)
    is_file = path.suffix == ".json" or _is_file(path)
    data = read_json(path) if is_file else find_preset(source)
    name, folder = (path.stem, path.parent) if is_file else (source, Path())
    return gather_spec(data if scenes_from is None else _asking_about(data, scenes_from), name=name, folder=folder)


def _asking_about(data: Mapping[str, Any], scenes: Path) -> dict[str, Any]:
    """Return the spec without its splits, but with a file of scenes."""
    base = data.get("base")
    whole = merge(find_preset(base), data) if isinstance(base, str) else data
    kept = {name: value for name, value in whole.items() if name not in ("base", "splits")}
    return {**kept, "scenes_from": str(scenes.resolve())}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # the path is too long, or in a folder without permission
        shown = str(path) if len(str(path)) <= 60 else f"{str(path)[:57]}..."
        raise BadSpec(
            f"Expected a preset's name or a JSON file, got {shown!r} ({error.strerror}).", where="SPEC"
        ) from error


def gather_spec(data: Mapping[str, Any], *, name: str, folder: Path) -> Source:
    """Return a spec with the files that it names, which are in `folder`; raise `BadSpec`.

    Files that the spec names by digest, as specs of datasets do, are in `files/` under their digests.
    """
    data, files = get_maker(world_of(data)).gather(data, folder=folder)
    return Source(name, data, {**_named_by_digest(data, folder / "files"), **files})


def _named_by_digest(data: Any, folder: Path) -> dict[str, bytes]:
    """Return the files of a folder whose digests occur in a spec; raise `BadSpec` for a damaged file."""
    if not folder.is_dir():
        return {}
    text = json.dumps(data)
    found = {path.name: path.read_bytes() for path in folder.iterdir() if DIGEST.fullmatch(path.name)}
    kept = {digest: content for digest, content in sorted(found.items()) if f'"{digest}"' in text}
    for digest, content in kept.items():
        came = hashlib.sha256(content).hexdigest()
        if came != digest:
            raise BadSpec(f"Expected a file with its name as SHA-256, got {came}.", where=str(folder / digest))
    return kept


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, with or without a byte order mark; raise `BadSpec` with the reason."""
    try:
        data = loads(path.read_bytes())
    except OSError as error:
        raise BadSpec(f"Expected a JSON file, got none ({error.strerror}).", where=str(path)) from error
    except BadJson as error:
        raise BadSpec(str(error), where=str(path)) from error
    if not isinstance(data, dict):
        raise BadSpec(f"Expected a JSON object, got {type(data).__name__}.", where=str(path))
    return data


def world_of(data: Mapping[str, Any]) -> str:
    """Return the name of a spec's world, or of its preset's world; raise `BadSpec`."""
    world, base = data.get("world"), data.get("base")
    if isinstance(world, str):
        return world
    if world is None and isinstance(base, str):
        return str(find_preset(base)["world"])
    raise BadSpec("Expected the name of a world, or a base that has one.", where="world")


def change(
    data: Mapping[str, Any],
    *,
    files: Mapping[str, bytes] = NO_FILES,
    seed: int | None = None,
    scenes: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return the validated spec with all defaults written out, and with a new seed and numbers of scenes.

    A split with 0 scenes is removed, also as a reference of other splits. Raises `BadSpec`.
    """
    world = get_world(world_of(data))
    result = world.read_spec(data, files=files).to_json()
    if seed is not None:
        result["seed"] = seed
    splits: dict[str, dict[str, Any]] = result["splits"]
    for name, count in (scenes or {}).items():
        if name not in splits:
            raise BadSpec(f"Expected one of {', '.join(splits)}, got {name!r}.", where="--scenes")
        splits[name]["scenes"] = count
    left = {name: split for name, split in splits.items() if split["scenes"] != 0}
    for split in left.values():
        if split.get("reference") in splits.keys() - left.keys():
            split["reference"] = None
    return world.read_spec(result | {"splits": left}, files=files).to_json()
