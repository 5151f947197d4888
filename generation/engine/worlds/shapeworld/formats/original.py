"""The format `shapeworld`: what the original program writes, folder by folder."""

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from generation.engine.formats import ExportDataset, ExportItem, ExportSplit, Option, Tick
from generation.engine.formats.writing import embed_image, write_json, write_readme
from generation.engine.worlds import Question
from generation.engine.worlds.shapeworld.formats.models import caption_model, polish, reverse_polish, world_model
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.scene import Scene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

SHARD = 1000  # microworlds of a folder
TYPE = "agreement"
NOTATIONS = {"caption_pn": polish, "caption_rpn": reverse_polish}


@dataclass
class Texts:
    """Token by token what is written: the longest of each kind, and every symbol that occurs."""

    longest: dict[str, int] = field(default_factory=dict)
    symbols: dict[str, set[str]] = field(default_factory=dict)

    def add(self, kind: str, tokens: Sequence[str]) -> None:
        """Take note of a text."""
        self.longest[kind] = max(self.longest.get(kind, 0), len(tokens))
        self.symbols.setdefault("rpn" if kind in NOTATIONS else "english", set()).update(tokens)


class Original:
    """Writes the specification and, for each split, its shards."""

    name: ClassVar[str] = "shapeworld"
    label: ClassVar[str] = "ShapeWorld's own"
    about: ClassVar[str] = (
        "What code for the original ShapeWorld reads: shards with pictures, captions, agreement and, where they may be "
        "shown, models of worlds and captions, and a page to look at."
    )
    options: ClassVar[tuple[Option, ...]] = ()
    sums: ClassVar[str] = "SHA256SUMS"
    embeds: ClassVar[bool] = True

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write a folder a split, and the specification that says what the files hold."""
        texts, name = Texts(), name_of(dataset)
        for split in dataset.splits:
            items = split.items()
            for number in range(-(-split.scenes // SHARD)):
                shard = folder / TYPE / name / split.name / f"shard{number}"
                _Shard(split, shard, texts=texts).write(islice(items, SHARD), tick=tick)
        write_json(folder / f"{TYPE}-{name}.json", specification(dataset, texts))
        write_readme(dataset, folder, layout=list(_layout(name)), sums=self.sums)


def name_of(dataset: ExportDataset) -> str:
    """Return what the original would call a dataset."""
    return dataset.slug.removeprefix("shapeworld-")


def specification(dataset: ExportDataset, texts: Texts) -> dict[str, Any]:
    """Return what the specification says: which values there are, how long and of which words."""
    several = any(_own(split).captions.per_scene > 1 for split in dataset.splits)
    values = {"world": "world", "caption": "vector(int)", "caption_length": "int"}
    if any(split.shows_answers for split in dataset.splits):
        values["agreement"] = "float"
    if any(split.shows_programs for split in dataset.splits):
        values |= {name: kind for one in NOTATIONS for name, kind in ((one, "vector(int)"), (f"{one}_length", "int"))}
        values["caption_model"] = "model"
    if several:
        values = {name: kind if name == "world" else f"alternatives({kind})" for name, kind in values.items()}
        values["alternatives"] = "int"
    if any(split.shows_scenes for split in dataset.splits):
        values["world_model"] = "model"
    return {
        "type": TYPE,
        "name": name_of(dataset),
        "values": values,
        "world_size": _own(dataset.splits[0]).images.width,
        "vectors": texts.longest,
        "vocabularies": {
            language: {"": 0, **{word: number for number, word in enumerate(sorted(symbols), start=1)}}
            for language, symbols in sorted(texts.symbols.items())
        },
        "language": "english",
        "include_model": any(split.shows_scenes for split in dataset.splits),
    }


class _Shard:
    """Writes one folder of microworlds.

    Each file has a line a microworld or, where that has several captions, one of them all for numbers, and a line a
    caption with an empty one after the last for texts.
    """

    def __init__(self, split: ExportSplit, folder: Path, *, texts: Texts) -> None:
        self.split, self.folder, self.texts = split, folder, texts
        self.spec = _own(split)
        self.parser = Parser(self.spec.vocabulary)
        self.several = self.spec.captions.per_scene > 1
        self.numbers: dict[str, list[str]] = {}
        self.lines: dict[str, list[str]] = {}
        self.models: dict[str, list[Any]] = {}
        self.rows: list[str] = []

    def write(self, items: Iterator[ExportItem], *, tick: Tick) -> None:
        """Write pictures as they come, and everything else at the end."""
        self.folder.mkdir(parents=True)
        for number, entry in enumerate(items):
            name = f"world-{number}{PurePosixPath(entry.image_name).suffix}"
            if self.split.images:
                embed_image(self.folder / name, entry.image)
            self._add(entry, name)
            tick(1)
        for kind, lines in (self.numbers | self.lines).items():
            (self.folder / f"{kind}.txt").write_text("".join(lines), encoding="ascii", newline="\n")
        for kind, models in self.models.items():
            (self.folder / f"{kind}.json").write_text(json.dumps(models) + "\n", encoding="ascii", newline="\n")
        (self.folder / "data.html").write_text(_page(self.rows), encoding="utf-8", newline="\n")

    def _add(self, entry: ExportItem, name: str) -> None:
        questions = entry.item.questions
        self._add_texts("caption", [_tokens(question.text) for question in questions])
        if self.several:
            self._add_numbers("alternatives", [len(questions)])
        if self.split.shows_answers:
            self._add_numbers("agreement", [_agreement(question) for question in questions])
        if self.split.shows_programs:
            models = [caption_model(self.parser.parse(question.text)) for question in questions]
            self.models.setdefault("caption_model", []).append(models if self.several else models[0])
            for kind, notation in NOTATIONS.items():
                self._add_texts(kind, [notation(model) for model in models])
        if isinstance(entry.item.scene, Scene):
            model = world_model(entry.item.scene, self.spec.vocabulary)
            self.models.setdefault("world_model", []).append(model)
        self.rows += [_row(name if self.split.images else "", question) for question in questions]

    def _add_texts(self, kind: str, texts: Sequence[Sequence[str]]) -> None:
        for tokens in texts:
            self.texts.add(kind, tokens)
        end = "\n" if self.several else ""
        self.lines.setdefault(kind, []).append("".join(f"{' '.join(tokens)}\n" for tokens in texts) + end)
        self._add_numbers(f"{kind}_length", [len(tokens) for tokens in texts])

    def _add_numbers(self, kind: str, numbers: Sequence[float]) -> None:
        self.numbers.setdefault(kind, []).append(";".join(str(number) for number in numbers) + "\n")


def _own(split: ExportSplit) -> ShapeWorldSpec:
    assert isinstance(split.spec, ShapeWorldSpec)
    return split.spec


def _tokens(text: str) -> list[str]:
    """Return a sentence's words and marks, the first one small, as the original has them."""
    return f"{text[:1].lower()}{text[1:]}".replace(",", " ,").replace(".", " .").split()


def _agreement(question: Question) -> float:
    return float(question.answer is not None and question.answer.text == "yes")


def _row(picture: str, question: Question) -> str:
    shown = f'<img src="{html.escape(picture)}" alt="">' if picture else ""
    answer = "" if question.answer is None else question.answer.text
    return f"<tr><td>{shown}</td><td>{html.escape(question.text)}</td><td>{html.escape(answer)}</td></tr>"


def _page(rows: Sequence[str]) -> str:
    style = "img{width:192px;image-rendering:pixelated}td{padding:4px 12px;font:16px sans-serif}"
    head = f'<meta charset="utf-8"><title>Microworlds and captions</title><style>{style}</style>'
    table = "\n".join(rows)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body><table>\n{table}\n</table></body></html>\n'


def _layout(name: str) -> Iterator[str]:
    yield f"- `{TYPE}-{name}.json`: which values there are, how long they are and of which words."
    yield f"- `{TYPE}/{name}/SPLIT/shardN/`: up to {SHARD:,} microworlds in order, and in it"
    yield "  - `world-N.png`: pictures; `caption.txt`: captions word by word; `caption_length.txt`: how many words;"
    yield "  - `agreement.txt`: 1.0 where the caption fits, else 0.0, where answers may be shown;"
    yield "  - `caption_pn.txt`, `caption_rpn.txt`: captions in Polish and reverse Polish notation, with their lengths;"
    yield "  - `caption_model.json`, `world_model.json`: captions and microworlds as the original models them;"
    yield "  - `data.html`: a page to look at."


FORMAT = Original()
