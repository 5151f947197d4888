"""Somebody else's scenes, about which our questions are asked: a file that the spec names by its SHA-256.

The file is kept as it came. A scene is found by where it begins, so that a batch in the middle of a large file costs
no more than the first one.
"""

import math
import re
from array import array
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from typing import Any

from generation.engine.bounded_json import BadJson, Guard, decoder
from generation.engine.errors import BadRecord, BadScene, BadSpec, Exhausted
from generation.engine.worlds import Chunk, Item
from generation.engine.worlds.clevr.asking import Asker
from generation.engine.worlds.clevr.camera import View, project, solve_view
from generation.engine.worlds.clevr.formats.finding import sniff
from generation.engine.worlds.clevr.formats.records import Records
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.spec import ClevrSpec

LIST = re.compile(rb'"scenes"\s*:\s*\[')
BETWEEN = re.compile(rb"[\s,]*")
WINDOW = 1 << 15  # bytes in which most scenes end
LONGEST = 1 << 24  # bytes that one scene may take
NEAR = 2.0  # pixels by which a camera may miss, on average, what was published


class Given:
    """The scenes of a file.

    Parameters
    ----------
    content : bytes
        JSON as the release has it. `BadRecord` is raised where it is something else.
    """

    def __init__(self, content: bytes) -> None:
        kind, self.split = sniff(BytesIO(content), name="scenes_from")
        if kind != "scenes":
            raise BadRecord(f"Expected a file with a list of scenes, got one of {kind}.", where="scenes_from")
        try:
            Guard().feed(content)
        except BadJson as error:
            raise BadRecord(str(error), where="scenes_from") from error
        self.content = content
        self.begins = array("Q", _begins(content))

    def __len__(self) -> int:
        return len(self.begins)

    def record(self, number: int) -> Any:
        """Return the record of a scene, by its place in the file."""
        return _decoded(self.content, self.begins[number], number)[0]

    def scene(self, number: int, records: Records) -> Scene:
        """Return a scene; raise `BadRecord` naming what the vocabulary doesn't have."""
        return records.scene(self.record(number), where=f"scenes_from, scenes[{number}]")


def _begins(content: bytes) -> Iterator[int]:
    """Yield where each scene begins."""
    found = LIST.search(content)
    place = found.end() if found else len(content)
    number = 0
    while (place := _after(content, place)) < len(content) and content[place : place + 1] != b"]":
        yield place
        place = _decoded(content, place, number)[1]
        number += 1
    if place >= len(content):
        raise BadRecord("Expected JSON, got a file that ends too early.", where=f"scenes_from, scenes[{number}]")


def _after(content: bytes, place: int) -> int:
    found = BETWEEN.match(content, place)
    return found.end() if found else place


def _decoded(content: bytes, place: int, number: int) -> tuple[Any, int]:
    """Return the record that begins at a place, and where it ends."""
    size = WINDOW
    while True:
        text = content[place : place + size].decode("utf-8", errors="replace")
        try:
            record, end = _DECODER.raw_decode(text)
            return record, place + len(text[:end].encode())
        except ValueError as error:
            if size >= LONGEST or place + size >= len(content):
                raise BadRecord(f"Expected JSON, got something else ({error}).", where=f"scenes[{number}]") from error
            size *= 4


_DECODER = decoder()


@lru_cache(maxsize=4)
def given(content: bytes) -> Given:
    """Return the scenes of a file, looked through once a process."""
    return Given(content)


def with_splits(data: dict[str, Any], found: dict[str, bytes]) -> dict[str, Any]:
    """Return a spec's JSON with the split that its file of scenes is of, where it names none; raise `BadSpec`."""
    digest = data.get("scenes_from")
    if digest not in found or "splits" in data or "base" in data:
        return data
    try:
        scenes = given(found[digest])
    except BadRecord as error:
        raise BadSpec(error.reason, where=error.where) from error
    return {**data, "splits": {scenes.split: {"scenes": len(scenes)}}}


def check(spec: ClevrSpec) -> None:
    """Raise `BadSpec` unless a spec's file has as many scenes as each split asks for, all of our vocabulary."""
    for name in spec.splits:
        own = spec.for_split(name)
        if own.scenes_file is not None:
            _check_split(own, name)


def _check_split(spec: ClevrSpec, split: str) -> None:
    content, wanted = spec.scenes_file, spec.splits[split].scenes
    assert content is not None
    try:
        found = given(content)
        if wanted > len(found):
            raise BadSpec(
                f"Expected up to {len(found)}, as many as the file has, got {wanted}.", where=f"splits.{split}.scenes"
            )
        _check_scenes(found, spec, wanted)
    except BadRecord as error:
        raise BadSpec(error.reason, where=error.where) from error


_CHECKED: set[tuple[int, Any, int]] = set()


def _check_scenes(found: Given, spec: ClevrSpec, most: int) -> None:
    key = (id(found), spec.language, most)
    if key not in _CHECKED:
        records = Records(spec)
        for number in range(most):
            found.scene(number, records)
        _CHECKED.add(key)


def make(spec: ClevrSpec, split: str, chunk: Chunk, *, content: bytes, asker: Asker) -> Iterator[Item]:
    """Yield a chunk's scenes as they were published, each with questions of ours."""
    found, records = given(content), Records(spec)
    for number in range(chunk.first_item, chunk.first_item + chunk.items):
        scene = found.scene(number, records)
        view = seen_from(scene, width=spec.images.width, height=spec.images.height)
        for _ in range(spec.questions.replacements + 1):
            questions = asker.ask(scene, view or View())
            if questions is not None:
                yield Item(scene, view, questions)
                break
        else:
            raise Exhausted(
                f"Expected a scene that admits {spec.questions.per_scene} questions, got one that does not within "
                f"{spec.questions.replacements + 1} tries: lower questions.per_scene, or leave the scene out.",
                where=f"{split}, scene {number}",
                count=spec.questions.replacements + 1,
            )


def seen_from(scene: Scene, *, width: int, height: int) -> View | None:
    """Return the view from which a published scene's objects are where it says; None where there is none such.

    The camera is worked out from `pixel_coords`; the lights are CLEVR's own. One object alone tells too little.
    """
    coords = [thing.coords for thing in scene.objects]
    pixels = [thing.pixel_coords for thing in scene.objects]
    try:
        solved = solve_view(coords, pixels, width=width, height=height)
        missed = [_missed(solved, one, seen) for one, seen in zip(coords, pixels, strict=True)]
    except (BadScene, ValueError, ZeroDivisionError, ArithmeticError):
        return None
    if math.sqrt(sum(missed) / len(missed)) > NEAR:
        return None
    x, y, z = (round(value, 6) for value in solved.camera)
    return View(camera=(x, y, z), width=width, height=height)


def _missed(view: View, point: Any, seen: Any) -> float:
    """Return the square of how far off a point is, in pixels."""
    px, py, _ = project(view, point)
    return float((px - seen[0]) ** 2 + (py - seen[1]) ** 2)


def no_camera(width: int, height: int) -> BadScene:
    """Return what to say of a scene that can't be drawn."""
    return BadScene(
        f"Expected pixel_coords of two objects or more, as a camera that looks at the origin sees them in a picture "
        f"{width} × {height}, got others. Set images.width and images.height to theirs, or leave pictures out "
        "(--no-images).",
        where="scene",
    )
