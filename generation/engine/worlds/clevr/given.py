"""Somebody else's scenes, about which our questions are asked: a file that the spec names by its SHA-256.

The file is kept as it came. A scene is found by where it begins, so that a batch in the middle of a large file costs
no more than the first one.
"""

import math
from array import array
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from typing import Any

from generation.engine.errors import BadRecord, BadScene, BadSpec, Exhausted
from generation.engine.items import Chunk, Item
from generation.engine.reading.bounded_json import Guarded, loads
from generation.engine.reading.json_stream import JsonText
from generation.engine.worlds.clevr.asking import Asker
from generation.engine.worlds.clevr.camera import View, project, solve_view
from generation.engine.worlds.clevr.formats.finding import rotation_of, sniff
from generation.engine.worlds.clevr.formats.records import Records, image_name, placed
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.spec import ClevrSpec

NAME = "scenes_from"  # what messages call the file
NEAR = 2.0  # pixels by which a camera may miss, on average, what was published


class GivenScenes:
    """The scenes of a file.

    Parameters
    ----------
    content : bytes
        JSON as the release has it. `BadRecord` is raised where it is something else.
    """

    def __init__(self, content: bytes) -> None:
        kind, self.split = sniff(BytesIO(content), name=NAME)
        if kind != "scenes":
            raise BadRecord(f"Expected a file with a list of scenes, got one of {kind}.", where=NAME)
        text = JsonText(Guarded(BytesIO(content)))
        spans = [text.span for _ in placed(text, kind, name=NAME, split=self.split)]
        if not spans:
            raise BadRecord("Expected at least one scene, got none.", where=NAME)
        self.rotation = rotation_of(BytesIO(content), name=NAME)
        self.content = content
        self.begins, self.ends = (array("Q", places) for places in zip(*spans, strict=True))
        self.checked: set[tuple[Any, int]] = set()

    def __len__(self) -> int:
        return len(self.begins)

    def record(self, number: int) -> Any:
        """Return the record of a scene, by its place in the file."""
        return loads(self.content[self.begins[number] : self.ends[number]])

    def scene(self, number: int, records: Records) -> Scene:
        """Return a scene; raise `BadRecord` naming what the vocabulary doesn't have."""
        return records.scene(self.record(number), where=self._where(number))

    def picture(self, number: int) -> tuple[int, str]:
        """Return the published number of a scene's picture, and its file name."""
        record = self.record(number)
        return record["image_index"], image_name(record, where=self._where(number))

    def _where(self, number: int) -> str:
        return f"{NAME}, scenes[{number}]"

    def check(self, spec: ClevrSpec, count: int) -> None:
        """Raise `BadRecord` unless the first scenes are all of a spec's vocabulary."""
        if (spec.language, count) not in self.checked:
            records = Records(spec, rotation=self.rotation)
            for number in range(count):
                self.scene(number, records)
            self.checked.add((spec.language, count))


@lru_cache(maxsize=4)
def given(content: bytes) -> GivenScenes:
    """Return the scenes of a file, looked through once a process."""
    return GivenScenes(content)


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
        found.check(spec, wanted)
    except BadRecord as error:
        raise BadSpec(error.reason, where=error.where) from error


def make(spec: ClevrSpec, split: str, chunk: Chunk, *, content: bytes, asker: Asker) -> Iterator[Item]:
    """Yield a chunk's scenes as they were published, each with questions of ours."""
    found = given(content)
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
