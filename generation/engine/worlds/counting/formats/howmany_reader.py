"""The reader of HowMany-QA: ids of questions, whose texts and answers are in files of VQA 2.0 and Visual Genome.

References
----------
Trott et al. 2018, Interpretable Counting for Visual Question Answering, section 3.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, NamedTuple

from generation.engine.errors import BadRecord
from generation.engine.reading.bounded_json import Guarded
from generation.engine.reading.dataset_reader import Open, PublishedCount, ReadItem, SplitFiles, value_of
from generation.engine.reading.json_stream import JsonText, list_records, records
from generation.engine.worlds.counting.formats.question_files import QuestionFile, QuestionFilesReader, add_file
from generation.engine.worlds.counting.formats.records import (
    UNKNOWN,
    PictureQuestions,
    PublishedPicture,
    PublishedQuestion,
    count_in,
    number_of,
    text_of,
)
from generation.engine.worlds.counting.spec import CountingSpec

IDS, QUESTIONS, ANNOTATIONS, GENOME = "ids", "questions", "annotations", "visual genome"
VQA, VISUAL_GENOME = "vqa", "visual_genome"  # lists of ids of the train split
USUAL: Mapping[str, str] = {
    IDS: "question_ids.json",
    QUESTIONS: "v2_OpenEnded_mscoco_{part}2014_questions.json",
    ANNOTATIONS: "v2_mscoco_{part}2014_annotations.json",
    GENOME: "question_answers.json",
}
NAMES: Mapping[str, re.Pattern[str]] = {
    IDS: re.compile(r"question_ids\.json"),
    QUESTIONS: re.compile(r"(?:.*_)?v2_.*(train|val)2014_questions\.json"),  # v1 and OK-VQA have the same names without
    ANNOTATIONS: re.compile(r"(?:.*_)?v2_.*(train|val)2014_annotations\.json"),
    GENOME: re.compile(r"(?:.*_)?question_answers\.json"),
}
PARTS: Mapping[str, str] = {"train": "train", "dev": "val", "test": "val"}  # the part of VQA of each split
GENOME_ID = "visual_genome-"  # the start of ids of Visual Genome, because VQA has some of the same numbers
GENOME_FOLDERS = ("VG_100K", "VG_100K_2")


class HowManyReader(QuestionFilesReader):
    """Reads question_ids.json together with the files that have the questions."""

    name: ClassVar[str] = "howmany-qa"
    label: ClassVar[str] = "HowMany-QA, as published, with VQA 2.0 and Visual Genome"
    most: ClassVar[int] = 20
    published: ClassVar[Sequence[PublishedCount]] = (
        PublishedCount(("train",), 47_542 + 36_100),
        PublishedCount(("dev",), 17_714),
        PublishedCount(("test",), 5_000),
    )

    def assign(self, files: Sequence[QuestionFile]) -> dict[str, dict[str, str]]:
        """Return the files of train, dev and test, by their names."""
        given: dict[str, dict[str, str]] = {}  # by the part of VQA, or "" for all
        for file in files:
            named = next(((kind, found) for kind, name in NAMES.items() if (found := name.fullmatch(file.name))), None)
            if named is not None:
                add_file(given, next(iter(named[1].groups()), ""), named[0], file.path)
            elif file.is_named:
                raise BadRecord(f"Expected a name such as {', '.join(USUAL.values())}, got another.", where=file.path)
        if not given:
            where = ", ".join(file.path for file in files)
            raise BadRecord(f"Expected files such as {', '.join(USUAL.values())}, got none.", where=where)
        return {split: self._files(split, part, given) for split, part in PARTS.items()}

    def _files(self, split: str, part: str, given: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        """Return a split's files; raise `BadRecord` naming one that is missing."""
        kinds = [IDS, QUESTIONS, ANNOTATIONS, *([GENOME] if split == "train" else [])]
        every = {**given.get("", {}), **given.get(part, {})}
        for kind in kinds:
            if kind not in every:
                name = USUAL[kind].format(part=part)
                raise BadRecord(f"Expected the file {name} too, for the split {split}, got none.", where=name)
        return {kind: every[kind] for kind in kinds}

    def items(self, split: SplitFiles, *, spec: CountingSpec, opened: Open, skip: int) -> Iterator[ReadItem]:
        """Yield the pictures of the ids with their questions."""
        ids, questions = _ids_of(split, opened=opened), PictureQuestions()
        vqa = _IdList(ids[VQA], VQA)
        counts: dict[int, int] = {}
        met = set()
        with _text(split, ANNOTATIONS, opened) as (text, name):
            for place, record in enumerate(records(text, "annotations", where=name)):
                where = f"{name}, annotations[{place}]"
                if (number := number_of(record, "question_id", where=where)) in vqa.ids:
                    answer = record.get("multiple_choice_answer")
                    counts[number] = count_in(answer, most=spec.most, where=f"{where}, multiple_choice_answer")
        vqa.check_all(counts, where=name)
        with _text(split, QUESTIONS, opened) as (text, name):
            for place, record in enumerate(records(text, "questions", where=name)):
                where = f"{name}, questions[{place}]"
                if (number := number_of(record, "question_id", where=where)) in vqa.ids:
                    image = number_of(record, "image_id", where=where)
                    part = PARTS[split.name]
                    picture = PublishedPicture(f"{part}2014/COCO_{part}2014_{image:012d}.jpg", image, "coco")
                    text_ = text_of(record, "question", where=where)
                    questions.add(picture, PublishedQuestion(text_, counts[number], UNKNOWN, str(number)), where=where)
                    met.add(number)
        vqa.check_all(met, where=name)
        if GENOME in split.files:
            self._add_genome(questions, split, _IdList(ids[VISUAL_GENOME], VISUAL_GENOME), spec, opened)
        yield from questions.items(classes=spec.classes, skip=skip, where=PurePosixPath(split.files[IDS]).name)

    def _add_genome(
        self, questions: PictureQuestions, split: SplitFiles, wanted: "_IdList", spec: CountingSpec, opened: Open
    ) -> None:
        met = set()
        with _text(split, GENOME, opened) as (text, name):
            for place, record in enumerate(list_records(text, where=name)):
                for number, pair in enumerate(value_of(record, "qas", list, where=f"{name}, [{place}]")):
                    where = f"{name}, [{place}], qas[{number}]"
                    own = number_of(pair, "qa_id", where=where)
                    if own not in wanted.ids:
                        continue
                    met.add(own)
                    image = number_of(pair, "image_id", where=where)
                    count = count_in(pair.get("answer"), most=spec.most, where=f"{where}, answer")
                    asked = PublishedQuestion(
                        text_of(pair, "question", where=where), count, UNKNOWN, f"{GENOME_ID}{own}"
                    )
                    picture = PublishedPicture(_genome_path(image, split.images), image, "visual_genome")
                    questions.add(picture, asked, where=where)
        wanted.check_all(met, where=name)


class _IdList(NamedTuple):
    """The ids of one of the lists in question_ids.json."""

    ids: frozenset[int]
    name: str

    def check_all(self, met: Any, *, where: str) -> None:
        """Raise `BadRecord` if a file lacks some of the ids."""
        missing = sorted(one for one in self.ids if one not in met)
        if missing:
            more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
            raise BadRecord(
                f"Expected each {self.name} question of {USUAL[IDS]}, got none with the id {missing[0]}{more}. "
                "Check that the file is complete.",
                where=where,
            )


@contextmanager
def _text(split: SplitFiles, kind: str, opened: Open) -> Iterator[tuple[JsonText, str]]:
    """Open a file of a split; yield its text and its name."""
    path = split.files[kind]
    with closing(opened(path)) as file:
        yield JsonText(Guarded(file)), PurePosixPath(path).name


def _ids_of(split: SplitFiles, *, opened: Open) -> dict[str, frozenset[int]]:
    """Return the ids of a split's questions in VQA and in Visual Genome."""
    with _text(split, IDS, opened) as (text, name):
        try:
            data = {key: text.value() for key in text.names()}
        except ValueError as error:
            raise BadRecord(
                f"Expected JSON with train, dev and test, got something else ({error}).", where=name
            ) from error
    found = data.get(split.name)
    lists = found if isinstance(found, dict) else {VQA: found, VISUAL_GENOME: []}
    kinds = (VQA, VISUAL_GENOME)
    if not all(isinstance(lists.get(kind), list) and all(type(one) is int for one in lists[kind]) for kind in kinds):
        raise BadRecord(f"Expected lists of whole numbers for {split.name}, got something else.", where=name)
    return {kind: frozenset(lists[kind]) for kind in kinds}


def _genome_path(image: int, folder: str) -> str:
    """Return the path of a picture of Visual Genome, which is in one of two folders; the first if it is in neither."""
    paths = [f"{name}/{image}.jpg" for name in GENOME_FOLDERS]
    return next((path for path in paths if folder and Path(folder, path).is_file()), paths[0])


READER = HowManyReader()
