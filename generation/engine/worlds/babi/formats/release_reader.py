"""The reader of bAbI as published: any of its folders, or the archive."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from generation.engine.errors import BadRecord, EngineError, IllPosed
from generation.engine.items import Item, Question
from generation.engine.program import FunctionTable, from_json, outputs, typecheck
from generation.engine.reading import sidecar_reader
from generation.engine.reading.bounded_json import loads
from generation.engine.reading.dataset_reader import (
    Fault,
    FoundFiles,
    NormalisedAnswer,
    Open,
    PublishedCount,
    ReadItem,
    SplitFiles,
    SplitSummary,
)
from generation.engine.reading.published_files import open_published
from generation.engine.spec import BaseSpec
from generation.engine.worlds.babi import prompts
from generation.engine.worlds.babi.formats import archive, file_names, split_files
from generation.engine.worlds.babi.formats.published_answers import PublishedAnswers, tidy
from generation.engine.worlds.babi.formats.release_writer import stories_path
from generation.engine.worlds.babi.formats.split_files import STORIES
from generation.engine.worlds.babi.formats.story_files import RawQuestion, RawStory, stories
from generation.engine.worlds.babi.functions import function_table
from generation.engine.worlds.babi.languages import StoryLanguage
from generation.engine.worlds.babi.reading.reader import StoryReader
from generation.engine.worlds.babi.spec import BabiSpec, read_spec
from generation.engine.worlds.babi.story import Line, Story, read_story

# for an exported split that was derived from another one, and therefore shares stories with it
DERIVED: Mapping[str, Any] = {"overrides": {"told": {"faithful": True}}}
LONGEST = 1 << 24  # bytes of a record beside the release


class BabiReader:
    """Reads the release, and exports of this project in the form of the release."""

    name: ClassVar[str] = "babi"
    label: ClassVar[str] = "bAbI, as published"
    world: ClassVar[str] = "babi"
    published: ClassVar[Sequence[PublishedCount]] = ()
    ours: ClassVar[str] = STORIES

    def find(self, paths: Sequence[Path]) -> FoundFiles:
        """Return the splits in files, folders and archives."""
        where = ", ".join(map(str, paths))
        ours = sidecar_reader.beside([*paths, *[path.parent for path in paths]])  # release folders lie deeper
        parts = split_files.choose_files(split_files.search(paths), is_ours=ours is not None, where=where)
        if ours is None:
            return FoundFiles(split_files.splits(parts, {}))
        told = sidecar_reader.read_side_facts(ours)
        names = [str(one.get("name")) for one in told.about.get("splits", ()) if isinstance(one, dict)]
        called = {_name_in_files(name): name for name in names}
        parts = [part._replace(split=called.get(part.split, part.split)) for part in parts]
        beside_them = {name: ours / stories_path(name) for name in names}
        found = split_files.splits(parts, {name: str(path) for name, path in beside_them.items() if path.is_file()})
        return FoundFiles(found, told.usual, told.spec, told.contents)

    def sort(self, names: Sequence[str], *, opened: Open) -> FoundFiles:
        """Return the splits of single files."""
        parts = []
        for name in names:
            own = split_files.file_named(PurePosixPath(name).name, where=PurePosixPath(name).name)
            parts.append(split_files.TaskFile(own.task, own.split, "", name))
        return FoundFiles(
            split_files.splits(split_files.choose_files(parts, is_ours=False, where=", ".join(names)), {})
        )

    def spec(self, found: FoundFiles, known: Mapping[str, SplitSummary] | None = None) -> dict[str, Any]:
        """Return the spec as JSON; without an exported spec, the stories are assumed to be those of the release."""
        told = known or {split.name: SplitSummary() for split in found.splits}
        tasks = sorted({split_files.task_of(kind) for split in found.splits for kind in split.files} - {0}) or [1]
        data: dict[str, Any] = (
            dict(found.spec) if found.spec else {"told": {"faithful": True, "language": _language(found)}}
        )
        said: dict[str, Any] = data.get("splits", {})
        unsaid: Mapping[str, Any] = DERIVED if found.spec else {}
        listed = (word for word in data.get("answers", ()) if word == tidy(word))
        words = {*listed, *(word for one in told.values() for word in one.words)}
        return read_spec(
            {
                "world": self.world,
                "title": "",
                "tasks": tasks,
                **data,
                "answers": sorted(words),
                "splits": {name: _split(said.get(name, unsaid), one, told) for name, one in told.items()},
            }
        ).to_json()

    def stated(self, split: SplitFiles, *, opened: Open) -> str:
        """Return an empty string, because the files name no licence."""
        return ""

    def read(self, split: SplitFiles, *, spec: BaseSpec, opened: Open, skip: int = 0) -> Iterator[ReadItem]:
        """Yield the split's items: task by task, or in the order of the file beside the release."""
        assert isinstance(spec, BabiSpec)
        with ExitStack() as stack:
            files = files_of_tasks(split, opened=opened, stack=stack)
            told = _Telling(spec)
            if STORIES in split.files:
                content = stack.enter_context(closing(opened(split.files[STORIES])))
                reads = _join(files, content, told, name=Path(split.files[STORIES]).name)
            else:
                reads = (told.story(task, raw) for task, found in files.items() for raw in found)
            for read in islice(reads, skip, None):
                yield read._replace(words=told.new_words(read.item))


def _name_in_files(split: str) -> str:
    found = file_names.parse_file_name(file_names.file_name(1, split, has_validation=False))
    return found.split if found else split


def _language(found: FoundFiles) -> str:
    kind, path = next(((kind, path) for split in found.splits for kind, path in split.files.items()), ("", ""))
    return file_names.language_of(PurePosixPath(kind.partition(split_files.INSIDE)[2] or path).parent.name)


def _split(said: Mapping[str, Any], known: SplitSummary, told: Mapping[str, SplitSummary]) -> dict[str, Any]:
    """Return a split of the spec, with its reference if that is imported too."""
    reference = said.get("reference")
    return {
        "scenes": known.scenes,
        "reference": reference if reference in told else None,
        "overrides": said.get("overrides", {}),
    }


def files_of_tasks(split: SplitFiles, *, opened: Open, stack: ExitStack) -> dict[int, Iterator[RawStory]]:
    """Return an iterator of the stories of each task, in the order of the tasks."""
    inside = {kind.partition(split_files.INSIDE)[2]: kind for kind in split.files if split_files.INSIDE in kind}
    unpacked: dict[str, Path] = {}
    for path in dict.fromkeys(split.files[kind] for kind in inside.values()):
        file = stack.enter_context(closing(opened(path)))
        unpacked |= stack.enter_context(archive.unpack_members(file, inside.keys(), name=Path(path).name))
    found: dict[int, Iterator[RawStory]] = {}
    for kind, name in split.files.items():
        member = kind.partition(split_files.INSIDE)[2]
        if kind == STORIES:
            continue
        if member and member not in unpacked:
            raise BadRecord("Expected a file of this name in the archive, got none.", where=member)
        file = stack.enter_context(closing(open_published(unpacked[member]) if member else opened(name)))
        found[split_files.task_of(kind)] = stories(file, name=PurePosixPath(member or name).name)
    return found


class _Telling:
    """Makes items from stories that were read."""

    def __init__(self, spec: BabiSpec) -> None:
        self.language: StoryLanguage = spec.language
        self.table: FunctionTable = function_table(spec.language)
        self.answers = frozenset(prompts.answers(spec))
        self.published = PublishedAnswers(spec)

    def story(self, task: int, raw: RawStory) -> ReadItem:
        """Return a published story with its questions."""
        return self._read(self._item(task, raw), task, raw, [{} for _ in raw.questions])

    def _item(self, task: int, raw: RawStory) -> Item:
        """Return a published story without its questions; it has events for the sentences that can be read."""
        reader = StoryReader([self.language.english(text) or "" for text in raw.lines])
        told = zip(raw.lines, reader.events, reader.antecedents, strict=True)
        lines = tuple(Line(text, events, antecedent) for text, events, antecedent in told)
        supports = tuple(one.supports for one in raw.questions) if any(one.supports for one in raw.questions) else None
        return Item(Story(task, lines, supports), None, ())

    def read(self, record: Mapping[str, Any], raw: RawStory) -> ReadItem:
        """Return an exported story with its record beside the release; raise if the two do not fit."""
        task, item = record["task"], self._item(record["task"], raw)
        if "lines" in record:
            _check_count(raw.lines, record["lines"], "lines")
            lines = [{**told, "text": text} for text, told in zip(raw.lines, record["lines"], strict=True)]
            story = read_story({"task": task, "lines": lines, "supports": record.get("supports")})
            item = Item(story, None, ())
        _check_count(raw.questions, record["questions"], "questions")
        read = self._read(item, task, raw, record["questions"])
        faults = [self._fault(item, place, one, raw.questions[place]) for place, one in enumerate(read.item.questions)]
        return read._replace(faults=tuple(fault for fault in faults if fault is not None))

    def _read(self, item: Item, task: int, raw: RawStory, told: Sequence[Mapping[str, Any]]) -> ReadItem:
        """Return an item with the questions of its story; `told` has the records beside the release."""
        kind, texts = file_names.TASKS[task - 1], (*raw.lines, *(one.text for one in raw.questions))
        asked: list[Question] = []
        changed: list[NormalisedAnswer] = []
        for one, beside in zip(raw.questions, told, strict=True):
            published = one.answer or str(beside.get("answer", ""))
            answer = self.published.read(kind, published, texts=texts, where=one.where)
            if answer is not None and published != (answer.spelling or answer.text):
                changed.append(NormalisedAnswer(published, answer.text))
            program = None if beside.get("program") is None else from_json(beside["program"])
            asked.append(Question(one.text, program, answer, kind, family=task, scope=one.scope))
        return ReadItem(replace(item, questions=tuple(asked)), normalised=tuple(changed))

    def _fault(self, item: Item, place: int, asked: Question, raw: RawQuestion) -> Fault | None:
        """Return how a question differs from its program's result, or None; raise `BadProgram` if it cannot be run."""
        if asked.program is None or asked.answer is None:
            return None
        kind = typecheck(asked.program, table=self.table)
        try:
            given = outputs(asked.program, self.table.prepare(item.scene, asked.scope), table=self.table)[-1]
        except IllPosed as error:
            return Fault(place, "no-answer", str(error), asked.answer.text)
        shown = str(self.table.show(kind, given).value)
        if shown != asked.answer.text:
            return Fault(place, "answer", shown, asked.answer.text)
        if raw.supports and raw.supports != given.lines:
            return Fault(place, "supports", _numbers(given.lines), _numbers(raw.supports))
        return None

    def new_words(self, item: Item) -> tuple[str, ...]:
        """Return the answers of an item that are not in the spec's vocabulary."""
        found = (asked.answer.text for asked in item.questions if asked.answer is not None)
        return tuple(dict.fromkeys(answer for answer in found if answer not in self.answers))


def _numbers(lines: Sequence[int]) -> str:
    return " ".join(str(line + 1) for line in lines)


def _check_count(own: Sequence[Any], beside_them: Sequence[Any], what: str) -> None:
    if len(own) != len(beside_them):
        raise ValueError(f"{len(beside_them)} {what} for {len(own)}")


def _join(files: Mapping[int, Iterator[RawStory]], content: Any, told: _Telling, *, name: str) -> Iterator[ReadItem]:
    """Yield items in the order of the file beside the release; each task's stories keep the order of their own file."""
    for number, text in enumerate(_records(content, name=name), 1):
        where = f"{name}, line {number}"
        record = _record(text, where=where)
        raw = next(files.get(record["task"], iter(())), None)
        if raw is None:
            raise BadRecord(f"Expected one more story of task {record['task']} in its file, got none.", where=where)
        try:
            read = told.read(record, raw)
        except (EngineError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            expected = "Expected what belongs to the next story in the release's file"
            raise BadRecord(f"{expected}, got something else ({error}).", where=where) from error
        yield read
    for task, left in files.items():
        if next(left, None) is not None:
            raise BadRecord(f"Expected every story of task {task} in this file, got one fewer.", where=name)


def _record(text: bytes, *, where: str) -> dict[str, Any]:
    try:
        record = loads(text)
        assert isinstance(record, dict)
        assert isinstance(record["task"], int)
    except (ValueError, AssertionError, KeyError) as error:
        raise BadRecord("Expected an object with the number of a task, got something else.", where=where) from error
    return record


def _records(content: Any, *, name: str) -> Iterator[bytes]:
    """Yield the lines of a file."""
    rest = b""
    while block := content.read(1 << 16):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
        if len(rest) > LONGEST:
            raise BadRecord("Expected lines of at most 16 MiB, got a longer one.", where=name)
    if rest:
        yield rest


READER = BabiReader()
