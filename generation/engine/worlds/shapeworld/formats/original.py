"""The format `shapeworld`: folders and files as the original program writes them."""

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, NamedTuple

from generation.engine.formats import ExportDataset, ExportItem, ExportSplit, Format, Tick
from generation.engine.formats.common import embed_image, write_json, write_readme
from generation.engine.items import Question
from generation.engine.worlds.shapeworld.formats.original_serialization import (
    caption_model,
    polish,
    reverse_polish,
    world_model,
)
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

SHARD = 1000  # microworlds in one folder
TYPE = "agreement"
MODES = ("train", "validation", "test")  # the original's names of splits
NOTATIONS = {"caption_pn": polish, "caption_rpn": reverse_polish}
WORDS, SYMBOLS = "language", "rpn"  # names of the two vocabularies, and value types of the texts in them
UNKNOWN = "[UNKNOWN]"


@dataclass
class TokenTexts:
    """The longest text of each kind, and all tokens of each vocabulary."""

    longest: dict[str, int] = field(default_factory=dict)
    symbols: dict[str, set[str]] = field(default_factory=dict)

    def add(self, kind: str, tokens: Sequence[str]) -> None:
        """Record a text."""
        self.longest[kind] = max(self.longest.get(kind, 0), len(tokens))
        self.symbols.setdefault(SYMBOLS if kind in NOTATIONS else WORDS, set()).update(tokens)

    def vocabularies(self) -> dict[str, dict[str, int]]:
        """Return the numbers of each vocabulary's tokens: the padding token is first, the unknown token last."""
        return {
            name: {token: number for number, token in enumerate(("", *sorted(tokens), UNKNOWN))}
            for name, tokens in sorted(self.symbols.items())
        }


class Original(Format):
    """Writes specifications and, for each split, its shards."""

    name: ClassVar[str] = "shapeworld"
    label: ClassVar[str] = "ShapeWorld's own"
    about: ClassVar[str] = (
        "What code for the original ShapeWorld reads: shards with pictures, captions, agreement and, where they may be "
        "shown, models of worlds and captions, and a page to look at."
    )

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write a folder for each split, and the specifications that describe the files."""
        texts = TokenTexts()
        for split in dataset.splits:
            items = split.items()
            for number in range(-(-split.scenes // SHARD)):
                shard = folder / _place(dataset, split) / f"shard{number}"
                _Shard(split, shard, texts=texts).write(islice(items, SHARD), tick=tick)
        for name, specification in specifications(dataset, texts).items():
            write_json(folder / f"{TYPE}-{name}.json", specification)
        write_readme(dataset, folder, layout=list(_layout(dataset)), sums=self.sums)


def name_of(dataset: ExportDataset) -> str:
    """Return the original's name for a dataset."""
    return dataset.slug.removeprefix("shapeworld-")


def _place(dataset: ExportDataset, split: ExportSplit) -> str:
    """Return a split's folder; the original allows only its modes as subfolders of one folder."""
    name = name_of(dataset)
    return f"{TYPE}/{name}/{split.name}" if split.name in MODES else f"{TYPE}/{name}-{split.name}"


class SplitValues(NamedTuple):
    """The content of a split's files: value types, the size of pictures, and the number of captions of each one."""

    values: Mapping[str, str]
    world_size: int
    captions: int


def _content_of(split: ExportSplit) -> SplitValues:
    of_caption = {"caption": WORDS, "caption_length": "int"}
    if split.shows_answers:
        of_caption["agreement"] = "float"
    if split.shows_programs:
        of_caption |= {name: kind for one in NOTATIONS for name, kind in ((one, SYMBOLS), (f"{one}_length", "int"))}
        of_caption["caption_model"] = "model"
    own = _own(split)
    if own.captions.per_scene > 1:
        of_caption = {name: f"alternatives({kind})" for name, kind in of_caption.items()} | {"alternatives": "int"}
    values = {"world": "world"} if split.images else {}
    if split.shows_scenes:
        values["world_model"] = "model"
    return SplitValues(values | of_caption, own.images.width, own.captions.per_scene)


def specifications(dataset: ExportDataset, texts: TokenTexts) -> dict[str, dict[str, Any]]:
    """Return the specifications by name: one for the modes together, and one for each split that it does not describe.

    The original uses its one specification for all modes. So a split with other values, for example without answers,
    has its own specification, as a variant without modes.
    """
    found, name = dict[str, dict[str, Any]](), name_of(dataset)
    modes = [_content_of(split) for split in dataset.splits if split.name in MODES]
    fullest = max(modes, key=lambda held: len(held.values), default=None)
    if fullest is not None:
        found[name] = _specification(fullest, texts, name=name, place=f"{TYPE}/{name}")
    for split in dataset.splits:
        held = _content_of(split)
        if split.name not in MODES or held != fullest:
            alone = _specification(held, texts, name=name, place=_place(dataset, split))
            found[f"{name}-{split.name}"] = alone | {"variant": split.name}
    return found


def _specification(held: SplitValues, texts: TokenTexts, *, name: str, place: str) -> dict[str, Any]:
    return {
        "type": TYPE,
        "name": name,
        "generated": True,
        "relative_directory": place,
        "image_format": "png",
        "values": dict(held.values),
        "include_model": any("model" in kind for kind in held.values.values()),
        "world_size": held.world_size,
        "vectors": texts.longest,
        "vocabularies": texts.vocabularies(),
        "worlds_per_instance": 1,
        "captions_per_instance": held.captions,
    }


class _Shard:
    """Writes one folder of microworlds.

    Files of numbers have one line for each microworld, with the numbers of all its captions. Files of texts have one
    line for each caption; if microworlds have several captions, an empty line follows the last of each microworld.
    """

    def __init__(self, split: ExportSplit, folder: Path, *, texts: TokenTexts) -> None:
        self.split, self.folder, self.texts = split, folder, texts
        self.spec = _own(split)
        self.parser = Parser(self.spec.vocabulary)
        self.several = self.spec.captions.per_scene > 1
        self.numbers: dict[str, list[str]] = {}
        self.lines: dict[str, list[str]] = {}
        self.models: dict[str, list[Any]] = {}
        self.rows: list[str] = []

    def write(self, items: Iterator[ExportItem], *, tick: Tick) -> None:
        """Write pictures as they come, and all other files at the end."""
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
        if isinstance(entry.item.scene, FlatScene):
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


def _layout(dataset: ExportDataset) -> Iterator[str]:
    name = name_of(dataset)
    yield f"- `{TYPE}-{name}.json`: which values there are, how long they are and of which words. The original loads it"
    yield f"  with `Dataset.create(dtype='{TYPE}', name='{name}', config='.')` in this folder."
    yield f"- `{TYPE}-{name}-SPLIT.json`: the same for a split that holds less than the others, as where answers are"
    yield "  withheld, or has a name of its own: load it with `variant='SPLIT'`, and generate from it without a mode."
    yield f"- `{TYPE}/{name}/SPLIT/shardN/`: up to {SHARD:,} microworlds in order; a split that is none of"
    yield f"  {', '.join(MODES)} lies in `{TYPE}/{name}-SPLIT/shardN/`. In each shard:"
    yield "  - `world-N.png`: pictures; `caption.txt`: captions word by word; `caption_length.txt`: how many words;"
    yield "  - `agreement.txt`: 1.0 where the caption fits, else 0.0, where answers may be shown;"
    yield "  - `caption_pn.txt`, `caption_rpn.txt`: captions in Polish and reverse Polish notation, with their lengths;"
    yield "    the number of parts of a noun or a joined caption is a separate symbol, after it in Polish notation,"
    yield "    as in `EntityType 2 Attribute-shape-square Attribute-color-red`, and before it in reverse Polish"
    yield "    notation, as in `Attribute-shape-square Attribute-color-red 2 EntityType`;"
    yield "  - `caption_model.json`, `world_model.json`: captions and microworlds as the original models them;"
    yield "  - `data.html`: a page to look at."


FORMAT = Original()
