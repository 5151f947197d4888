"""The reader of CLEVR as published: scenes, questions, pictures, or any part of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, ClassVar

from generation.engine.errors import BadRecord
from generation.engine.items import Answer, AnswerKind, Item
from generation.engine.reading import sidecar_reader
from generation.engine.reading.bounded_json import Guarded
from generation.engine.reading.dataset_reader import (
    FoundFiles,
    Open,
    PublishedCount,
    ReadItem,
    SplitFiles,
    SplitSummary,
)
from generation.engine.reading.folders import list_files
from generation.engine.reading.json_stream import JsonText
from generation.engine.spec import LIMITS, BaseSpec
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.formats import split_files
from generation.engine.worlds.clevr.formats.records import PlacedRecord, Records, image_name, normalised, read_placed
from generation.engine.worlds.clevr.spec import ClevrSpec, read_spec

MOST = LIMITS["objects"].ceiling
SIDES = (64, LIMITS["side"].ceiling)
ROOM = {"objects_max": MOST, "extent": 10.0, "min_distance": 0.0, "margin": 0.0, "relation_threshold": 0.0}
QUESTIONS_EACH = 5000


class ClevrReader:
    """Reads the release, CoGenT, and files of the original generator."""

    name: ClassVar[str] = "clevr"
    label: ClassVar[str] = "CLEVR, as published"
    world: ClassVar[str] = "clevr"
    published: ClassVar[Sequence[PublishedCount]] = ()
    ours: ClassVar[str] = "views"

    def find(self, paths: Sequence[Path]) -> FoundFiles:
        """Return the splits in files and folders."""
        parts = split_files.search(paths)
        left = tuple(parts.add_others())
        ours = sidecar_reader.beside(paths)
        if ours is None:
            return FoundFiles(_some(parts, paths, left), left=left)
        if not any(path == ours or path in ours.parents for path in paths):
            _add_beside(parts, ours)
        told = sidecar_reader.read_side_facts(ours)
        return FoundFiles(_some(parts, paths, left), told.usual, told.spec, told.contents, left)

    def sort(self, names: Sequence[str], *, opened: Open) -> FoundFiles:
        """Return the splits of single files."""
        return FoundFiles(split_files.sort(names, opened=opened).splits())

    def spec(self, found: FoundFiles, known: Mapping[str, SplitSummary] | None = None) -> dict[str, Any]:
        """Return the spec as JSON; templates and vocabulary are ours, which equal the release's."""
        told = known or {split.name: SplitSummary() for split in found.splits}
        most = max([one.most for one in told.values()]) if known else MOST
        data = dict(found.spec) if found.spec else {"world": self.world, "title": "", **_room(most, told)}
        said, references = data.get("splits", {}), split_files.references(told)
        data["splits"] = {
            name: {
                "scenes": one.scenes,
                "reference": _keep_reference(said.get(name, {}).get("reference", references.get(name)), told),
                "overrides": said.get(name, {}).get("overrides", {}),
            }
            for name, one in told.items()
        }
        return read_spec(data, files=found.contents).to_json()

    def stated(self, split: SplitFiles, *, opened: Open) -> str:
        """Return the licence that a split's files name before their records, or an empty string."""
        for kind in ("questions", "scenes"):
            if kind in split.files:
                with closing(opened(split.files[kind])) as file:
                    if licence := split_files.licence_of(file):
                        return licence
        return ""

    def read(self, split: SplitFiles, *, spec: BaseSpec, opened: Open, skip: int = 0) -> Iterator[ReadItem]:
        """Yield one item for each picture that scenes or questions name, or for each picture if there are neither."""
        assert isinstance(spec, ClevrSpec)
        if not set(split.files) & {"scenes", "questions"}:
            yield from _pictures(split, skip=skip)
            return
        records = Records(spec, rotation=_rotation(split, opened=opened))
        with ExitStack() as stack:

            def stream(kind: str) -> Iterator[PlacedRecord]:
                if kind not in split.files:
                    return iter(())
                file = stack.enter_context(closing(opened(split.files[kind])))
                return read_placed(JsonText(Guarded(file)), kind, name=Path(split.files[kind]).name, split=split.name)

            yield from _join(records, stream("scenes"), stream("questions"), stream("views"), skip=skip)


def _rotation(split: SplitFiles, *, opened: Open) -> str:
    """Return the unit of `rotation` in a split's scenes.

    Our exports name it since engine 4. In the files of earlier engines, angles are those of the stored scenes.
    """
    usual = "degrees" if ClevrReader.ours in split.files else "radians"
    if "scenes" not in split.files:
        return usual
    with closing(opened(split.files["scenes"])) as file:
        return split_files.rotation_of(file, name=Path(split.files["scenes"]).name, usual=usual)


def _join(
    records: Records,
    scenes: Iterator[PlacedRecord],
    questions: Iterator[PlacedRecord],
    views: Iterator[PlacedRecord],
    *,
    skip: int,
) -> Iterator[ReadItem]:
    """Yield an item for each number that a scene or a question has, in ascending order."""
    scene, question, view = next(scenes, None), next(questions, None), next(views, None)
    position = items = 0
    while scene is not None or question is not None:
        number = min(one.number for one in (scene, question) if one is not None)
        own: PlacedRecord | None = None
        if scene is not None and scene.number == number:
            own, scene = scene, next(scenes, None)
        asked = []
        while question is not None and question.number == number:
            asked.append(question)
            _check_few(asked)
            question = next(questions, None)
        while view is not None and view.number < number:
            view = next(views, None)
        if items >= skip:
            seen = view.record if view is not None and view.number == number else None
            yield _read(records, number, own, asked, seen, position=position)
        position += len(asked)
        items += 1


def _check_few(asked: Sequence[PlacedRecord]) -> None:
    """Raise `BadRecord` if one picture has too many questions."""
    if len(asked) > QUESTIONS_EACH - 1:
        raise BadRecord(
            f"Expected fewer than {QUESTIONS_EACH} questions of a picture, got more.", where=asked[-1].where
        )


def _read(
    records: Records,
    number: int,
    own: PlacedRecord | None,
    asked: Sequence[PlacedRecord],
    seen: Mapping[str, Any] | None,
    *,
    position: int,
) -> ReadItem:
    scene = None if own is None else records.scene(own.record, where=own.where)
    found = [
        records.question(one.record, scene, position=position + place, where=one.where)
        for place, one in enumerate(asked)
    ]
    counts = [_number(one.question.answer) for one in found]
    first = own or asked[0]
    return ReadItem(
        item=Item(
            scene,
            None if seen is None else View.from_json(dict(seen)),
            tuple(one.question for one in found),
            number=number,
            image_name=image_name(first.record, where=first.where),
        ),
        faults=tuple(one.fault._replace(question=place) for place, one in enumerate(found) if one.fault is not None),
        most=max([len(scene.objects) if scene else 0, *counts]),
        unknown_families=sum(not one.knows_family for one in found),
        normalised=tuple(filter(None, (normalised(one.question.answer) for one in found))),
    )


def _number(answer: Answer | None) -> int:
    """Return the number that an answer is, or 0 if it is not a number."""
    is_number = answer is not None and answer.kind == AnswerKind.INTEGER and answer.text.isdigit()
    return int(answer.text) if is_number and answer is not None else 0


def _pictures(split: SplitFiles, *, skip: int) -> Iterator[ReadItem]:
    """Yield an item for each picture of a folder, in the order of the numbers in their names."""
    names = {}
    for path in list_files(Path(split.images)):
        number = split_files.picture_number(path.name)
        if number is not None and number not in names and split_files.split_of_picture(path) == split.name:
            names[number] = path.name
    for number in sorted(names)[skip:]:
        yield ReadItem(Item(None, None, (), number=number, image_name=names[number]))


def _some(parts: split_files.Parts, paths: Sequence[Path], left: Sequence[str]) -> tuple[SplitFiles, ...]:
    splits = parts.splits()
    if not splits:
        came = f"pictures with other names, as {Path(left[0]).name}" if left else "none"
        raise BadRecord(
            f"Expected scenes, questions or pictures as CLEVR's release has them (CLEVR_val_000000.png), got {came}.",
            where=", ".join(map(str, paths)),
        )
    return splits


def _add_beside(parts: split_files.Parts, ours: Path) -> None:
    """Add what our own folder has for the splits that are imported."""
    more = split_files.search([ours])
    for split in parts.splits():
        for part in more.files.get(split.name, {}).values():
            parts.add(part)


def _room(most: int, told: Mapping[str, SplitSummary]) -> dict[str, Any]:
    """Return spec fields that make room for what was found: objects and the size of pictures."""
    data: dict[str, Any] = {"scene": {**ROOM, "objects_max": most} if most > 10 else {}}
    sizes = [one.size for one in told.values() if one.size is not None]
    if sizes and all(SIDES[0] <= side <= SIDES[1] for side in sizes[0]):
        data["images"] = dict(zip(("width", "height"), sizes[0], strict=True))
    return data


def _keep_reference(reference: Any, told: Mapping[str, SplitSummary]) -> Any:
    """Return a split's reference, or None if the reference is not imported too."""
    return reference if reference in told else None


READER = ClevrReader()
