"""The files that a CLEVR spec names: taken up with it, and named by digest from then on."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from generation.engine.errors import BadSpec
from generation.engine.spec import merged

DIGEST = re.compile(r"[0-9a-f]{64}")


def gather(data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the spec with the files it names replaced by their digests, and those files."""
    if not isinstance(data, Mapping):
        raise BadSpec(f"Expected an object, got {type(data).__name__}.")
    found: dict[str, bytes] = {}
    result = merged(data, {})
    for where, part in _parts(result):
        _gather_families(part.get("questions"), folder, found, where=f"{where}questions.families")
        _gather_meshes(part.get("vocabulary"), folder, found, where=f"{where}vocabulary.shapes")
        named = part.get("scenes_from")
        if isinstance(named, str) and not DIGEST.fullmatch(named):
            part["scenes_from"] = _take(folder / named, found, where=f"{where}scenes_from")
    return result, found


def _parts(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the spec and each split's overrides, with the path that leads there; they may name files."""
    yield "", data
    splits = data.get("splits")
    for name, split in splits.items() if isinstance(splits, dict) else ():
        if isinstance(split, dict) and isinstance(split.get("overrides"), dict):
            yield f"splits.{name}.overrides.", split["overrides"]


def _gather_families(questions: Any, folder: Path, found: dict[str, bytes], *, where: str) -> None:
    if not isinstance(questions, dict) or not isinstance(questions.get("families"), str):
        return
    named = questions["families"]
    if named == "clevr":
        return
    place = folder / named
    paths = sorted(place.glob("*.json")) if place.is_dir() else [place]
    if not paths:
        raise BadSpec(f"Expected *.json files with families, found none in {place}.", where=where)
    questions["families"] = {path.name: _take(path, found, where=where) for path in paths}


def _gather_meshes(vocabulary: Any, folder: Path, found: dict[str, bytes], *, where: str) -> None:
    shapes = vocabulary.get("shapes") if isinstance(vocabulary, dict) else None
    for name, shape in shapes.items() if isinstance(shapes, dict) else ():
        mesh = shape.get("mesh") if isinstance(shape, dict) else None
        if isinstance(mesh, str) and not DIGEST.fullmatch(mesh):
            shape["mesh"] = _take(folder / mesh, found, where=f"{where}.{name}.mesh")


def _take(path: Path, found: dict[str, bytes], *, where: str) -> str:
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise BadSpec(f"Expected a readable file, got {str(path)!r} ({error}).", where=where) from error
    digest = hashlib.sha256(content).hexdigest()
    found[digest] = content
    return digest
