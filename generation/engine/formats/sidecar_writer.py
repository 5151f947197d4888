"""Files beside the folder of a release: a description of the dataset, its spec and its questions' facets."""

from pathlib import Path
from typing import Any

from generation.engine.formats import ExportDataset, ExportSplit, Tick
from generation.engine.formats.common import facet_rows, open_gzip, write_json
from generation.engine.reading.sidecar_reader import BESIDE

SUMS = f"{BESIDE}/SHA256SUMS"
FORMAT_VERSION = 1


def write_facets(split: ExportSplit, folder: Path, *, prefix: str, tick: Tick) -> None:
    """Write the facet values of a split as a CSV file, one line for each question. All set flags are in one cell."""
    with open_gzip(folder / BESIDE / "facets" / f"{prefix}_{split.name}_facets.csv.gz") as file:
        file.write(",".join(["question_index", *(facet.name for facet in split.facets)]) + "\n")
        for number, row in enumerate(facet_rows(split)):
            file.write(",".join([str(number), *(_cell(value) for value in row.values())]) + "\n")
            if number % 10_000 == 0:
                tick(0)


def _cell(value: Any) -> str:
    """Return a value as a CSV cell, quoted if it contains a comma, a quotation mark or a line break."""
    text = "" if value is None else " ".join(value) if isinstance(value, list) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n') else text


def write_about(dataset: ExportDataset, folder: Path, *, release: str) -> None:
    """Write the description of the dataset, its spec, and the files that the spec names.

    `release` is the folder that other tools read.
    """
    beside = folder / BESIDE
    write_json(beside / "dataset.json", about(dataset, release=release))
    write_json(beside / "spec.json", dataset.spec_json)
    for digest, content in dataset.files.items():
        (beside / "files").mkdir(exist_ok=True)
        (beside / "files" / digest).write_bytes(content)


def about(dataset: ExportDataset, *, release: str) -> dict[str, Any]:
    """Return the content of `horsesense/dataset.json`."""
    return {
        "format": FORMAT_VERSION,
        "slug": dataset.slug,
        "title": dataset.title,
        "description": dataset.description,
        "authors": list(dataset.authors),
        "licence": dataset.licence,
        "version": dataset.version,
        "citation": dataset.citation,
        "world": dataset.world.name,
        "release": dataset.release,
        "engine_version": dataset.engine_version,
        "fingerprint": dataset.fingerprint,
        "completed": dataset.completed.isoformat(),
        "url": dataset.url,
        "folder": release,
        "splits": [
            {
                "name": split.name,
                "scenes": split.scenes,
                "questions": split.questions,
                "images": split.images,
                "withheld": split.withheld,
                "reference": split.reference,
                "parent": split.parent,
                "fingerprint": split.fingerprint,
                "secret_sha256": split.secret_sha256,
                "secret": split.secret,
                "facets": [facet.name for facet in split.facets],
                **({"imported": True} if split.imported else {}),
            }
            for split in dataset.splits
        ],
    }
