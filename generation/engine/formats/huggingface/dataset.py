"""The format `huggingface`: Parquet files that `datasets` and the Hub read, a card, a Croissant file, `eval.yaml`.

Two configurations: `questions` has a row for each question with the name of its picture (or the picture itself, with
`--embed`), and `scenes` has a row for each image, with its scene and its questions.
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from generation.engine.formats import ExportDataset, ExportItem, ExportSplit, Format, Option, Tick
from generation.engine.formats.common import embed_image, write_json
from generation.engine.formats.huggingface.card import Card, CardExample, card, yaml_text
from generation.engine.formats.huggingface.card_statistics import FacetCounter
from generation.engine.formats.huggingface.croissant import croissant
from generation.engine.formats.huggingface.parquet import (
    IMAGES,
    QUESTIONS,
    Shards,
    arrow,
    question_features,
    scene_features,
    schema_of,
)
from generation.engine.formats.huggingface.rows import (
    PROMPT,
    STORY,
    Row,
    Rows,
    column_of,
    facet_columns,
    first_of,
    plain_names,
)
from generation.engine.items import FacetKind, Media

ABOUT = {
    "image": "the picture's name",
    STORY: "the lines that the question sees; of a scene all its lines",
    "question": "what is asked",
    "answer": "the answer; null where it is withheld",
    "choices": "every answer that the question may have",
    "question_id": "the question's position in its split, from 0",
    "image_index": "the picture's position in its split, from 0",
    "split": "the split's name",
    "program": "the functional program whose result is the answer, as JSON; null where it is withheld",
    "scene": "the scene as JSON; null where it is withheld",
    "view": "camera and lights as JSON; null where they are withheld",
    PROMPT: "what a model is told: the question and the form of its answer",
}
ABOUT_PICTURE = "the picture"
ABOUT_STORY = {
    "image_index": "the scene's position in its split, from 0",
    PROMPT: "what a model is told: the story's lines with their numbers, the question and the form of its answer",
}
EVAL_HEAD = """\
# What the Hub and Inspect AI run. Form: Hugging Face Hub documentation, "Evaluation Results", eval.yaml specification.
"""
NOT_EMBEDDED = """\
# The configuration `questions` of this export names its pictures and hasn't got them: export with --embed before use.
"""


class HuggingFace(Format):
    """Writes a folder for `datasets.load_dataset`."""

    name: ClassVar[str] = "huggingface"
    label: ClassVar[str] = "Hugging Face datasets"
    about: ClassVar[str] = "Parquet files for the library datasets and the Hub, with card, Croissant file and eval.yaml"
    options: ClassVar[tuple[Option, ...]] = (
        Option("embed", "the pictures stand in the configuration questions too, for test sets"),
    )

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write the Parquet files of every split, then the files that describe them."""
        arrow()
        embed = bool(options["embed"])
        columns = facet_columns(dataset.splits)
        names = plain_names([split.name for split in dataset.splits])
        first = first_of(dataset.world)
        features = {
            "questions": question_features(columns, embed=embed, first=first),
            "scenes": scene_features(columns, first=first),
        }
        schemas = {name: schema_of(one) for name, one in features.items()}
        tallies: dict[str, FacetCounter] = {}
        for split in dataset.splits:
            rows = Rows(split, dataset.world, columns)
            tallies[split.name] = _write_split(rows, folder, names[split.name], schemas=schemas, embed=embed, tick=tick)
        about = _about(dataset, columns, embed=embed)
        told = Card(
            dataset=dataset,
            names=names,
            columns={name: about[name] for name in features["questions"]},
            embedded=embed,
            tallies=tallies,
            figures=_write_figures(dataset, folder),
            example=_write_example(dataset, folder),
            has_tasks=bool(evaluation_splits(dataset)),
        )
        tick(0)
        described = croissant(dataset, folder, features=features, about=about, tallies=tallies)
        write_json(folder / "spec.json", dataset.spec_json)
        write_json(folder / "croissant.json", described)
        _write_text(folder / "README.md", card(told))
        if evaluation_splits(dataset):
            _write_text(folder / "eval.yaml", eval_yaml(dataset, names, embed=embed))


def _write_split(
    rows: Rows, folder: Path, plain: str, *, schemas: Mapping[str, Any], embed: bool, tick: Tick
) -> FacetCounter:
    """Write both configurations of a split in one pass; return the counts of its answers."""
    tally = FacetCounter()
    with ExitStack() as stack:
        group = IMAGES if embed else QUESTIONS
        questions = stack.enter_context(Shards(folder / "questions" / plain, schemas["questions"], rows=group))
        scenes = stack.enter_context(Shards(folder / "scenes" / plain, schemas["scenes"], rows=IMAGES))
        for item in rows.split.items():
            asked = rows.of(item)
            content = item.image() if item.image is not None else None
            picture = None if content is None else {"bytes": content, "path": item.image_name}
            scenes.add(_scene_row(rows.split, item, asked, picture), weight=len(content or b""))
            for row in asked:
                has = embed and "image" in row
                questions.add({**row, "image": picture} if has else row, weight=len(content or b"") if has else 0)
            tally.add(item)
            tick(1)
    return tally


def _scene_row(split: ExportSplit, item: ExportItem, asked: list[Row], picture: Any) -> Row:
    own = item.item
    return {
        "image": picture,
        STORY: list(item.story or ()),
        "scene": None if own.scene is None else _compact(own.scene.to_json()),
        "questions": asked,
        "image_index": item.position,
        "split": split.name,
        "view": None if own.view is None else _compact(own.view.to_json()),
    }


def _about(dataset: ExportDataset, columns: Mapping[str, FacetKind], *, embed: bool) -> dict[str, str]:
    """Return a description of each column."""
    labels = {column_of(facet.name): facet.label for split in dataset.splits for facet in split.facets}
    about = {**ABOUT, **{name: f"facet: {labels[name]}" for name in columns}}
    if dataset.world.media is not Media.IMAGE:
        about |= ABOUT_STORY
    return {**about, "image": ABOUT_PICTURE} if embed else about


def evaluation_splits(dataset: ExportDataset) -> list[ExportSplit]:
    """Return the splits on which models are evaluated. Their answers, and their pictures if any, may be seen.

    Splits that serve as a reference for another split are left out, unless none would remain.
    """
    needs_images = dataset.world.media is Media.IMAGE
    usable = [split for split in dataset.splits if split.shows_answers and (split.images or not needs_images)]
    trained = {split.reference for split in dataset.splits}
    return [split for split in usable if split.name not in trained] or usable


def eval_yaml(dataset: ExportDataset, names: Mapping[str, str], *, embed: bool) -> str:
    """Return `eval.yaml`, with a task for each split on which models are evaluated.

    References
    ----------
    Hugging Face Hub documentation, "Evaluation Results", specification of eval.yaml. `exact` is the scorer of Inspect
    AI that compares whole answers.
    """
    pictured = dataset.world.media is Media.IMAGE
    said = [EVAL_HEAD + ("" if embed or not pictured else NOT_EMBEDDED) + f"name: {yaml_text(dataset.title)}"]
    said += [f"description: {yaml_text(' '.join(dataset.description.split()) or dataset.title)}"]
    said += ["evaluation_framework: inspect-ai", "", "tasks:"]
    for split in evaluation_splits(dataset):
        said += [
            f"  - id: {yaml_text(f'{dataset.slug}-{names[split.name]}')}",
            "    config: questions",
            f"    split: {names[split.name]}",
            "    field_spec:",
            f"      input: {PROMPT}",
            *(["      input_image: image"] if split.images else []),
            "      target: answer",
            "    solvers:",
            "      - name: generate",
            "    scorers:",
            "      - name: exact",
        ]
    return "\n".join(said) + "\n"


def _write_figures(dataset: ExportDataset, folder: Path) -> list[str]:
    """Write the dataset's charts; return the file names."""
    figures = dataset.figures()
    for name, content in sorted(figures.items()):
        (folder / "figures").mkdir(exist_ok=True)
        (folder / "figures" / name).write_bytes(content)
    return sorted(figures)


def _write_example(dataset: ExportDataset, folder: Path) -> CardExample | None:
    """Write the picture of the card's example: the first item of the first split whose first item has questions."""
    for split in dataset.splits:
        item = next(split.items(), None)
        if item is None or not item.item.questions:
            continue
        picture = ""
        if item.image is not None:
            picture = f"figures/example{Path(item.image_name).suffix}"
            embed_image(folder / picture, item.image)
        return CardExample(split.name, item, picture)
    return None


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


FORMAT = HuggingFace()
