"""Reading CLEVR as it was published: scenes, questions, pictures, or any part of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, ClassVar

from generation.engine.errors import BadRecord
from generation.engine.items import Answer, AnswerKind, Item
from generation.engine.reading import side_folder
from generation.engine.reading.bounded_json import Guarded
from generation.engine.reading.json_stream import JsonText
from generation.engine.reading.published import Found, Open, Read, SplitFiles, SplitSummary
from generation.engine.spec import LIMITS, BaseSpec
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.formats import finding
from generation.engine.worlds.clevr.formats.records import Placed, Records, image_name, placed
from generation.engine.worlds.clevr.spec import ClevrSpec, read_spec

MOST = LIMITS["objects"].ceiling
SIDES = (64, LIMITS["side"].ceiling)
ROOM = {"objects_max": MOST, "extent": 10.0, "min_distance": 0.0, "margin": 0.0, "relation_threshold": 0.0}
QUESTIONS_EACH = 5000


class ClevrReader:
    """Reads the release, CoGenT's too, and files of the program that it was made with."""

    name: ClassVar[str] = "clevr"
    label: ClassVar[str] = "CLEVR, as published"
    world: ClassVar[str] = "clevr"
    ours: ClassVar[str] = "views"

    def find(self, paths: Sequence[Path]) -> Found:
        """Return what lies in files and folders."""
        parts = finding.search(paths)
        ours = side_folder.beside(paths)
        if ours is None:
            return Found(_some(parts, paths))
        if not any(path == ours or path in ours.parents for path in paths):
            _add_beside(parts, ours)
        told = side_folder.told(ours)
        return Found(_some(parts, paths), told.usual, told.spec, told.contents)

    def sort(self, names: Sequence[str], *, opened: Open) -> Found:
        """Return what single files are."""
        return Found(finding.sort(names, opened=opened).splits())

    def spec(self, found: Found, known: Mapping[str, SplitSummary] | None = None) -> dict[str, Any]:
        """Return the spec; templates and words are ours, which are the release's."""
        told = known or {split.name: SplitSummary() for split in found.splits}
        most = max([one.most for one in told.values()]) if known else MOST
        data = dict(found.spec) if found.spec else {"world": self.world, "title": "", **_room(most, told)}
        said, references = data.get("splits", {}), finding.references(told)
        data["splits"] = {
            name: {
                "scenes": one.scenes,
                "reference": _kept(said.get(name, {}).get("reference", references.get(name)), told),
                "overrides": said.get(name, {}).get("overrides", {}),
            }
            for name, one in told.items()
        }
        return read_spec(data, files=found.contents).to_json()

    def stated(self, split: SplitFiles, *, opened: Open) -> str:
        """Return the licence that a split's files name, where it stands before the records."""
        for kind in ("questions", "scenes"):
            if kind in split.files:
                with closing(opened(split.files[kind])) as file:
                    if licence := finding.licence_of(file):
                        return licence
        return ""

    def read(self, split: SplitFiles, *, spec: BaseSpec, opened: Open, skip: int = 0) -> Iterator[Read]:
        """Yield the split's items: every picture that scenes or questions speak of; without both, every picture."""
        assert isinstance(spec, ClevrSpec)
        if not set(split.files) & {"scenes", "questions"}:
            yield from _pictures(split, skip=skip)
            return
        records = Records(spec, rotation=_rotation(split, opened=opened))
        with ExitStack() as stack:

            def stream(kind: str) -> Iterator[Placed]:
                if kind not in split.files:
                    return iter(())
                file = stack.enter_context(closing(opened(split.files[kind])))
                return placed(JsonText(Guarded(file)), kind, name=Path(split.files[kind]).name, split=split.name)

            yield from _joined(records, stream("scenes"), stream("questions"), stream("views"), skip=skip)


def _rotation(split: SplitFiles, *, opened: Open) -> str:
    """Return the unit of `rotation` in a split's scenes."""
    if "scenes" not in split.files:
        return "radians"
    with closing(opened(split.files["scenes"])) as file:
        return finding.rotation_of(file, name=Path(split.files["scenes"]).name)


def _joined(
    records: Records, scenes: Iterator[Placed], questions: Iterator[Placed], views: Iterator[Placed], *, skip: int
) -> Iterator[Read]:
    """Yield an item for each number that a scene or a question has, all in ascending order."""
    scene, question, view = next(scenes, None), next(questions, None), next(views, None)
    position = items = 0
    while scene is not None or question is not None:
        number = min(one.number for one in (scene, question) if one is not None)
        own: Placed | None = None
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


def _check_few(asked: Sequence[Placed]) -> None:
    """Raise `BadRecord` where one picture has more questions than are kept together."""
    if len(asked) > QUESTIONS_EACH - 1:
        raise BadRecord(
            f"Expected fewer than {QUESTIONS_EACH} questions of a picture, got more.", where=asked[-1].where
        )


def _read(
    records: Records,
    number: int,
    own: Placed | None,
    asked: Sequence[Placed],
    seen: Mapping[str, Any] | None,
    *,
    position: int,
) -> Read:
    scene = None if own is None else records.scene(own.record, where=own.where)
    found = [
        records.question(one.record, scene, position=position + place, where=one.where)
        for place, one in enumerate(asked)
    ]
    counts = [_number(one.question.answer) for one in found]
    first = own or asked[0]
    return Read(
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
    )


def _number(answer: Answer | None) -> int:
    """Return the number that an answer is; 0 where it is none."""
    is_number = answer is not None and answer.kind == AnswerKind.INTEGER and answer.text.isdigit()
    return int(answer.text) if is_number and answer is not None else 0


def _pictures(split: SplitFiles, *, skip: int) -> Iterator[Read]:
    """Yield an item for each picture of a folder, by the numbers in their names."""
    names = {}
    for path in sorted(Path(split.images).iterdir()):
        number = finding.picture_number(path.name)
        if number is not None and number not in names:
            names[number] = path.name
    for number in sorted(names)[skip:]:
        yield Read(Item(None, None, (), number=number, image_name=names[number]))


def _some(parts: finding.Parts, paths: Sequence[Path]) -> tuple[SplitFiles, ...]:
    splits = parts.splits()
    if not splits:
        raise BadRecord(
            "Expected scenes, questions or pictures as CLEVR's release has them, got none.",
            where=", ".join(map(str, paths)),
        )
    return splits


def _add_beside(parts: finding.Parts, ours: Path) -> None:
    """Take what our own folder tells of the splits that are imported."""
    more = finding.search([ours])
    for split in parts.splits():
        for part in more.files.get(split.name, {}).values():
            parts.add(part)


def _room(most: int, told: Mapping[str, SplitSummary]) -> dict[str, Any]:
    """Return the knobs that must hold what was found: objects and pictures."""
    data: dict[str, Any] = {"scene": {**ROOM, "objects_max": most} if most > 10 else {}}
    sizes = [one.size for one in told.values() if one.size is not None]
    if sizes and all(SIDES[0] <= side <= SIDES[1] for side in sizes[0]):
        data["images"] = dict(zip(("width", "height"), sizes[0], strict=True))
    return data


def _kept(reference: Any, told: Mapping[str, SplitSummary]) -> Any:
    """Return a split's reference, where that is imported too."""
    return reference if reference in told else None


READER = ClevrReader()
