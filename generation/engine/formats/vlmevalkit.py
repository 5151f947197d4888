"""The format `vlmevalkit`: one TSV file for each split, in VLMEvalKit's form for custom datasets.

A picture is stored in base64 in the row of its first question; other rows refer to that row. With `--form choices`
the kit asks multiple-choice questions: columns A, B, ... contain the choices and the answer is a letter. With `--form
open` it asks the prompt and compares words; the kit recognises this form by `_openended` at the end of the file name.
"""

import base64
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, ClassVar

from generation.engine.errors import BadExport
from generation.engine.formats import ExportDataset, ExportItem, ExportSplit, Format, Option, Tick
from generation.engine.formats.common import write_readme
from generation.engine.formats.huggingface.rows import PROMPT, STORY, Row, Rows, facet_columns, plain_names
from generation.engine.formats.lmms_eval import check_pictures
from generation.engine.worlds.story_text import numbered

CHOICES, OPEN = "choices", "open"


class VlmEvalKit(Format):
    """Writes TSV files."""

    name: ClassVar[str] = "vlmevalkit"
    label: ClassVar[str] = "VLMEvalKit TSV"
    about: ClassVar[str] = "a TSV file a split, pictures in base64, to evaluate vision-language models with VLMEvalKit"
    options: ClassVar[tuple[Option, ...]] = (
        Option("form", "choices: A, B, C ... to choose from; open: answers in words", CHOICES, (CHOICES, OPEN)),
    )

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write a file for each split, and instructions."""
        check_pictures(dataset)
        form = options["form"]
        names = plain_names([split.name for split in dataset.splits])
        files = {split.name: file_name(dataset, names[split.name], form=form) for split in dataset.splits}
        for split in dataset.splits:
            _write_split(dataset, split, folder / files[split.name], form=form, tick=tick)
        write_readme(dataset, folder, layout=_layout(list(files.values()), form=form), sums=self.sums)


def file_name(dataset: ExportDataset, plain: str, *, form: str) -> str:
    """Return the name of a split's file. Without its extension it is the kit's name of the dataset."""
    return f"{dataset.slug}_{plain}{'_openended' if form == OPEN else ''}.tsv"


def _write_split(dataset: ExportDataset, split: ExportSplit, path: Path, *, form: str, tick: Tick) -> None:
    columns = facet_columns([split])
    rows = Rows(split, dataset.world, columns)
    letters = _letters(dataset, split, tick=tick) if form == CHOICES else ()
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, dialect="excel-tab", lineterminator="\n")
        heads = ["index", "image", "question", *letters, *(["answer"] if split.shows_answers else [])]
        table.writerow([*heads, "category", "split", "image_path", *columns])
        for item in split.items():
            for row, asked in zip(rows.of(item), item.item.questions, strict=True):
                row["question"] = with_story(row["question"], row.get(STORY))
                said = _said(row, letters, where=split.name, answers=split.shows_answers)
                more = [asked.kind, split.name, row.get("image") or "", *(_value(row[name]) for name in columns)]
                table.writerow([row["question_id"], _picture(item, row), *said, *more])
            tick(1)


def with_story(text: str, lines: Sequence[str] | None) -> str:
    """Return a question preceded by the lines of the story that it uses."""
    return text if lines is None else f"{numbered(lines)}\n\n{text}"


def _picture(item: ExportItem, row: Row) -> str | int:
    """Return a picture in base64 in the row of its first question; in other rows, the index of that row."""
    if item.image is None:
        return ""
    if row["question_id"] == item.first_question:
        return base64.b64encode(item.image()).decode("ascii")
    return item.first_question


def _letters(dataset: ExportDataset, split: ExportSplit, *, tick: Tick) -> Sequence[str]:
    """Return the letters for a split's choices; raise `BadExport` if there are more choices than letters."""
    most = 0
    for item in split.items():
        forms = (dataset.world.answer_form(split.spec, question) for question in item.item.questions)
        most = max([most, *(len(form.choices) for form in forms)])
        tick(0)
    if most > len(ascii_uppercase):
        raise BadExport(
            f"Expected at most {len(ascii_uppercase)} choices a question, one a letter, got {most}: use --form open.",
            where=f"{dataset.slug}/{split.name}",
        )
    return ascii_uppercase[:most]


def _said(row: Row, letters: Sequence[str], *, where: str, answers: bool) -> list[str]:
    """Return the cells of the question, its choices by letter and its answer, if there are columns for them."""
    if not letters:
        return [row[PROMPT], *([row["answer"]] if answers else [])]
    choices = row["choices"]
    said = [row["question"], *choices, *[""] * (len(letters) - len(choices))]
    if not answers:
        return said
    if row["answer"] not in choices:
        raise BadExport(
            f"Expected an answer among {', '.join(choices)}, got {row['answer']!r}: use --form open.",
            where=f"{where}, question {row['question_id']}",
        )
    return [*said, letters[choices.index(row["answer"])]]


def _value(value: Any) -> Any:
    if value is None:
        return ""
    return " ".join(value) if isinstance(value, list) else value


def _layout(files: Sequence[str], *, form: str) -> list[str]:
    names = [file.removesuffix(".tsv") for file in files]
    how = (
        "Each is a multiple-choice dataset: `question`, the choices `A`, `B`, ..., the right letter in `answer`."
        if form == CHOICES
        else "Each is an open dataset: `question` is the stated prompt, `answer` the word or number."
    )
    return [
        f"{how} A picture stands in base64 in the row of its first question; other rows have that row's index.",
        "",
        "Put the files where VLMEvalKit looks for datasets (`$LMUData`, or `~/LMUData`), then run, in the kit:",
        "",
        f"    python run.py --data {names[0]} --model MODEL",
        "",
        *(f"- `{file}`" for file in files),
        "",
        "`category` is the question's type, by which the kit reports; further columns are facets. A file without "
        "`answer` gives predictions only.",
    ]


FORMAT = VlmEvalKit()
