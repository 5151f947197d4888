"""Files that a spec names: families, meshes and scenes; given scenes become a split's items."""

import hashlib
import math
import re
from array import array
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

from generation.engine.errors import BadRecord, BadScene, BadSpec, Exhausted
from generation.engine.items import Chunk, Item
from generation.engine.reading.bounded_json import Guarded, loads
from generation.engine.reading.folders import list_files
from generation.engine.reading.json_stream import JsonText
from generation.engine.reading.published_files import open_published
from generation.engine.spec import merge
from generation.engine.worlds.clevr.camera import View, project, solve_view
from generation.engine.worlds.clevr.formats.records import Records, image_name, read_placed
from generation.engine.worlds.clevr.formats.split_files import rotation_of, sniff
from generation.engine.worlds.clevr.question_generation import Asker
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.spec import ClevrSpec

DIGEST = re.compile(r"[0-9a-f]{64}")


def gather(data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the spec's JSON with each file name replaced by the file's SHA-256, and the files by SHA-256."""
    if not isinstance(data, Mapping):
        raise BadSpec(f"Expected an object, got {type(data).__name__}.")
    found: dict[str, bytes] = {}
    result = merge(data, {})
    for where, part in _parts(result):
        _gather_families(part.get("questions"), folder, found, where=f"{where}questions.families")
        _gather_meshes(part.get("vocabulary"), folder, found, where=f"{where}vocabulary.shapes")
        named = part.get("scenes_from")
        if isinstance(named, str) and not DIGEST.fullmatch(named):
            part["scenes_from"] = _take(folder / named, found, where=f"{where}scenes_from")
    return result, found


def _parts(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the parts that may name files, with their paths: the spec and each split's overrides."""
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
    paths = [path for path in list_files(place) if path.suffix == ".json"] if place.is_dir() else [place]
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
        with closing(open_published(path)) as file:
            content = file.read()
    except (BadRecord, ValueError) as error:
        raise BadSpec(f"Expected a readable file, got {str(path)!r} ({error}).", where=where) from error
    digest = hashlib.sha256(content).hexdigest()
    found[digest] = content
    return digest


NAME = "scenes_from"  # the file's name in messages
NEAR = 2.0  # the largest accepted distance in pixels, root mean square, between projected and published positions


class GivenScenes:
    """The scenes of a file that a spec names.

    Parameters
    ----------
    content : bytes
        JSON in the release's form. `BadRecord` is raised for other content.
    """

    def __init__(self, content: bytes) -> None:
        kind, self.split = sniff(BytesIO(content), name=NAME)
        if kind != "scenes":
            raise BadRecord(f"Expected a file with a list of scenes, got one of {kind}.", where=NAME)
        text = JsonText(Guarded(BytesIO(content)))
        spans = [text.span for _ in read_placed(text, kind, name=NAME, split=self.split)]
        if not spans:
            raise BadRecord("Expected at least one scene, got none.", where=NAME)
        self.rotation = rotation_of(BytesIO(content), name=NAME)
        self.content = content
        self.begins, self.ends = (array("Q", places) for places in zip(*spans, strict=True))
        self.checked: set[tuple[Any, int]] = set()

    def __len__(self) -> int:
        return len(self.begins)

    def record(self, number: int) -> Any:
        """Return the record of a scene by its position in the file."""
        return loads(self.content[self.begins[number] : self.ends[number]])

    def scene(self, number: int, records: Records) -> ClevrScene:
        """Return a scene; raise `BadRecord` for a value that the vocabulary does not have."""
        return records.scene(self.record(number), where=self._where(number))

    def picture(self, number: int) -> tuple[int, str]:
        """Return the published number of a scene's picture, and its file name."""
        record = self.record(number)
        return record["image_index"], image_name(record, where=self._where(number))

    def _where(self, number: int) -> str:
        return f"{NAME}, scenes[{number}]"

    def check(self, spec: ClevrSpec, count: int) -> None:
        """Raise `BadRecord` unless the first `count` scenes fit the spec's vocabulary."""
        if (spec.language, count) not in self.checked:
            records = Records(spec, rotation=self.rotation)
            for number in range(count):
                self.scene(number, records)
            self.checked.add((spec.language, count))


@lru_cache(maxsize=4)
def scenes_of_file(content: bytes) -> GivenScenes:
    """Return the scenes of a file; the last four files are cached."""
    return GivenScenes(content)


def with_splits(data: dict[str, Any], found: dict[str, bytes]) -> dict[str, Any]:
    """Return a spec's JSON with the split of its scenes file added if it names no splits; raise `BadSpec`."""
    digest = data.get("scenes_from")
    if digest not in found or "splits" in data or "base" in data:
        return data
    try:
        scenes = scenes_of_file(found[digest])
    except BadRecord as error:
        raise BadSpec(error.reason, where=error.where) from error
    return {**data, "splits": {scenes.split: {"scenes": len(scenes)}}}


def check(spec: ClevrSpec) -> None:
    """Raise `BadSpec` unless the given scenes are enough for each split and fit the vocabulary."""
    for name in spec.splits:
        own = spec.for_split(name)
        if own.scenes_file is not None:
            _check_split(own, name)


def _check_split(spec: ClevrSpec, split: str) -> None:
    content, wanted = spec.scenes_file, spec.splits[split].scenes
    assert content is not None
    try:
        found = scenes_of_file(content)
        if wanted > len(found):
            raise BadSpec(
                f"Expected up to {len(found)}, as many as the file has, got {wanted}.", where=f"splits.{split}.scenes"
            )
        found.check(spec, wanted)
    except BadRecord as error:
        raise BadSpec(error.reason, where=error.where) from error


def make(spec: ClevrSpec, split: str, chunk: Chunk, *, content: bytes, asker: Asker) -> Iterator[Item]:
    """Yield the given scenes of a chunk, each with generated questions."""
    found = scenes_of_file(content)
    records = Records(spec, rotation=found.rotation)
    for number in range(chunk.first_item, chunk.first_item + chunk.items):
        scene = found.scene(number, records)
        view = seen_from(scene, width=spec.images.width, height=spec.images.height)
        for _ in range(spec.questions.replacements + 1):
            questions = asker.ask(scene, view or View())
            if questions is not None:
                index, name = found.picture(number)
                yield Item(scene, view, questions, number=index, image_name=name)
                break
        else:
            raise Exhausted(
                f"Expected a scene that admits {spec.questions.per_scene} questions, got one that does not within "
                f"{spec.questions.replacements + 1} tries: lower questions.per_scene, or leave the scene out.",
                where=f"{split}, scene {number}",
                count=spec.questions.replacements + 1,
            )


def seen_from(scene: ClevrScene, *, width: int, height: int) -> View | None:
    """Return the view from which a published scene's objects appear at their positions, or None if there is none.

    The camera is computed from `pixel_coords`; the lights are CLEVR's own. One object is not enough.
    """
    coords = [thing.coords for thing in scene.objects]
    pixels = [thing.pixel_coords for thing in scene.objects]
    try:
        solved = solve_view(coords, pixels, width=width, height=height)
        missed = [_squared_distance(solved, one, seen) for one, seen in zip(coords, pixels, strict=True)]
    except (BadScene, ValueError, ZeroDivisionError, ArithmeticError):
        return None
    if math.sqrt(sum(missed) / len(missed)) > NEAR:
        return None
    x, y, z = (round(value, 6) for value in solved.camera)
    return View(camera=(x, y, z), width=width, height=height)


def _squared_distance(view: View, point: Any, seen: Any) -> float:
    px, py, _ = project(view, point)
    return float((px - seen[0]) ** 2 + (py - seen[1]) ** 2)


def no_camera(width: int, height: int) -> BadScene:
    """Return the error for a scene that cannot be drawn."""
    return BadScene(
        f"Expected pixel_coords of two objects or more, as a camera that looks at the origin sees them in a picture "
        f"{width} × {height}, got others. Set images.width and images.height to theirs, or leave pictures out "
        "(--no-images).",
        where="scene",
    )
