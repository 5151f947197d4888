"""The report on an import: what was found, what is missing, what is wrong; and what a question lacks."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from generation.access import Visitor, What, may_see
from generation.engine.items import Media
from generation.models import Dataset, Import, ImportedSplit, Question, Scene, Split

FAULTS = 20  # shown for each split
CHANGES = 10  # shown for each split


class ImportFault(NamedTuple):
    """An answer that its program does not give. `expected` is the program's result, or why it has none."""

    position: int
    got: str
    expected: str
    has_answer: bool


class ImportFindings(NamedTuple):
    """The findings in a split that a user may see.

    Attributes
    ----------
    split : Split
    report : mapping
        Counts; see `generation.making.ingestion.ImportReport`.
    absent : str
        What was not published, in words; empty if nothing is missing.
    faults : list of ImportFault
    more : int
        Number of further faults.
    normalised : str
        Which answers are stored in another form than published, as a sentence; empty if none is.
    pictures : bool
        Whether the page may mention the files of its pictures.
    """

    split: Split
    report: dict[str, Any]
    absent: str
    faults: list[ImportFault]
    more: int
    normalised: str
    pictures: bool


class ImportView(NamedTuple):
    """An import on its dataset's page.

    `command` imports the same files again. `sums` has their names and SHA-256, and `licences` the licences they state.
    """

    run: Import | None
    findings: list[ImportFindings]
    command: str
    sums: list[tuple[str, str]]
    licences: list[str]

    @property
    def unanswered(self) -> set[int]:
        return {one.split.pk for one in self.findings if one.split.is_complete and not one.report.get("answers")}


def import_view(user: Visitor, dataset: Dataset, splits: Sequence[Split]) -> ImportView | None:
    """Return the report on an import; None for a dataset that was generated here."""
    own = [split for split in splits if split.kind == Split.Kind.IMPORTED]
    if not own:
        return None
    origins = {origin.split_id: origin for origin in ImportedSplit.objects.filter(split__in=own)}
    findings = [_finding(user, split, origins[split.pk]) for split in own if split.pk in origins]
    run = Import.objects.filter(dataset=dataset).first()
    form = run.format if run else "FORMAT"
    command = f"python manage.py import {form} PATH --name {dataset.slug}-again"
    sums = [pair for finding in findings for pair in sorted(finding.report.get("sha256", {}).items())]
    licences = sorted({finding.report.get("licence", "") for finding in findings} - {""})
    return ImportView(run, findings, command, sums, licences)


def _finding(user: Visitor, split: Split, origin: ImportedSplit) -> ImportFindings:
    report = origin.report_json
    faults = [
        ImportFault(fault["question"], fault["got"], fault["expected"], fault["kind"] == "answer")
        for fault in report.get("first_faults", ())[:FAULTS]
    ]
    sees_answers = may_see(user, split, What.ANSWER)
    if not (sees_answers and may_see(user, split, What.PROGRAM)):
        faults = []
    return ImportFindings(
        split=split,
        report=report,
        absent=absent_of(split, report),
        faults=faults,
        more=report.get("faults", 0) - len(faults),
        normalised=describe_normalised(report) if sees_answers else "",
        pictures=may_see(user, split, What.IMAGE),
    )


def describe_normalised(report: Mapping[str, Any]) -> str:
    """Return how many answers of a split are stored in another form than published, and which; empty if none is."""
    count, pairs = report.get("normalised", 0), report.get("first_normalised", ())
    changes = [f"`{published}` became `{stored}`" for published, stored in pairs[:CHANGES]]
    more = ", and others" if len(pairs) > CHANGES else ""
    said = f"{'answer was' if count == 1 else 'answers were'} normalised: {', '.join(changes)}{more}"
    return f"{count:,} {said}" if count else ""


def absent_of(split: Split, report: dict[str, Any] | None = None) -> str:
    """Return what was not published of a split, in words; empty if nothing is missing or the split was generated."""
    source = split.source
    if source.kind != Split.Kind.IMPORTED or not source.is_complete:
        return ""
    if report is None:
        origin = ImportedSplit.objects.filter(split=source).first()
        report = {} if origin is None else origin.report_json
    return in_words([name for name in ("scenes", "answers", "programs") if not report.get(name)])


def lacking(asked: Question, *, allowed: Collection[What]) -> str:
    """Return what a question lacks, in words, limited to what the user may see."""
    absent = {
        "answer": What.ANSWER in allowed and asked.answer is None,
        "program": What.PROGRAM in allowed and asked.program is None,
        "scene": What.SCENE in allowed and asked.scene.data is None,
    }
    return in_words([name for name, is_absent in absent.items() if is_absent])


def why_no_picture(scene: Scene, split: Split, *, allowed: Collection[What]) -> str:
    """Return why a page shows no picture or no story."""
    if split.dataset.media == Media.STORY:
        return "The story is not known."
    if What.IMAGE not in allowed:
        return "Only the owner of the dataset and staff see its pictures."
    if split.source.kind == Split.Kind.IMPORTED:
        without = "Its picture was not imported."
        return without if split.dataset.with_images else "This dataset was imported without pictures."
    return "The picture isn’t drawn yet." if split.dataset.with_images else "This dataset was made without pictures."


def in_words(names: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
