"""Code that several formats share: streamed JSON lists, compressed files, the rows of facets, the README."""

import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from generation.engine.formats import ExportDataset, ExportSplit, Tick, value_of
from generation.engine.items import Media

BLOCK = 5000  # questions whose facets are read at once


@contextmanager
def json_list(path: Path, *, info: Mapping[str, Any], name: str) -> Iterator[Callable[[Any], None]]:
    """Yield a function that adds to the list in `{"info": ..., name: [...]}`, spaced as by `json.dump`.

    Nothing follows the last bracket: readers that parse character by character expect the end of the file there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write(f'{{"info": {json.dumps(dict(info))}, "{name}": [')
        separator = ""

        def add(value: Any) -> None:
            nonlocal separator
            file.write(separator + json.dumps(value))
            separator = ", "

        yield add
        file.write("]}")


def when_needed(stack: ExitStack, path: Path, *, info: Mapping[str, Any], name: str) -> Callable[[Any], None]:
    """Return a function that adds to a list in the form of `json_list`. The file is created with the first entry."""
    opened: list[Callable[[Any], None]] = []

    def add(value: Any) -> None:
        if not opened:
            opened.append(stack.enter_context(json_list(path, info=info, name=name)))
        opened[0](value)

    return add


@contextmanager
def open_gzip(path: Path) -> Iterator[IO[str]]:
    """Yield a gzip file for text. It contains no file name and no time, so that the bytes are reproducible."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        path.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
    ):
        yield text


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def facet_rows(split: ExportSplit) -> Iterator[dict[str, Any]]:
    """Yield the facet values of each question in order, by facet name. `value_of` defines the values."""
    names = [facet.name for facet in split.facets]
    for first in range(0, split.questions, BLOCK):
        codes = split.facet_codes(first, min(BLOCK, split.questions - first))
        columns = [[value_of(facet, code) for code in codes[facet.name].tolist()] for facet in split.facets]
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))


def readme(dataset: ExportDataset, *, layout: Sequence[str], sums: str) -> str:
    """Return the README of an export: facts about the dataset, its content and what is left out.

    Parameters
    ----------
    dataset : ExportDataset
    layout : sequence of str
        Markdown lines that describe the files.
    sums : str
        The file that contains the SHA-256 of every file.
    """
    parts = [f"# {dataset.title}"]
    if dataset.description:
        parts.append(dataset.description)
    parts.append("\n".join(f"- {name}: {text}" for name, text in facts(dataset)))
    parts.append("\n".join(_table(dataset.splits)))
    parts += notes(dataset)
    parts.append("## What is here")
    parts.append("\n".join(layout))
    parts.append(f"`sha256sum --check {sums}` in this folder tells whether every file is as it was written.")
    if dataset.citation:
        parts += ["## How to cite it", "\n".join(f"    {line}" for line in dataset.citation.splitlines())]
    return "\n\n".join(parts) + "\n"


def write_readme(dataset: ExportDataset, folder: Path, *, layout: Sequence[str], sums: str) -> None:
    """Write `README.md`."""
    (folder / "README.md").write_text(readme(dataset, layout=layout, sums=sums), encoding="utf-8", newline="\n")


def facts(dataset: ExportDataset) -> list[tuple[str, str]]:
    """Return the known facts about a dataset, as pairs of name and text."""
    found = [
        ("Authors", ", ".join(dataset.authors)),
        ("Licence", dataset.licence),
        ("Version", dataset.version),
        ("World", dataset.world.label),
        ("Content hash", dataset.fingerprint),
        ("Made by", f"Horsesense {dataset.release}, engine {dataset.engine_version}" if dataset.engine_version else ""),
        ("Page", dataset.url),
    ]
    return [(name, text) for name, text in found if text]


def notes(dataset: ExportDataset) -> list[str]:
    """Return what is missing and why, a sentence each: pictures, withheld answers."""
    found = []
    bare = [split.name for split in dataset.splits if not split.images]
    if bare and dataset.world.media is Media.IMAGE:
        found.append(f"There are no images of {', '.join(bare)} in this export.")
    withheld = [split.name for split in dataset.splits if not split.shows_answers]
    if withheld:
        found.append(f"The answers of {', '.join(withheld)} are withheld: predictions are scored where it is kept.")
    return found


def _table(splits: Sequence[ExportSplit]) -> Iterator[str]:
    yield "| Split | Scenes | Questions | Answers | Content hash |"
    yield "|---|--:|--:|---|---|"
    for split in splits:
        answers = "open" if split.shows_answers else "withheld"
        hash_ = f"`{split.fingerprint}`" if split.fingerprint else ""
        yield f"| {split.name} | {split.scenes:,} | {split.questions:,} | {answers} | {hash_} |"


def embed_image(path: Path, image: Callable[[], bytes] | None) -> None:
    """Write a picture to a path, if there is a picture."""
    if image is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image())


__all__ = [
    "Tick",
    "embed_image",
    "facet_rows",
    "facts",
    "json_list",
    "notes",
    "open_gzip",
    "readme",
    "when_needed",
    "write_json",
    "write_readme",
]
