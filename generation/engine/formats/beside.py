"""Writing what stands beside a release: what the dataset is, what it was made from, and its questions' facets."""

from pathlib import Path
from typing import Any

from generation.engine.formats import ExportDataset, ExportSplit, Tick
from generation.engine.formats.writing import compressed, facet_rows, write_json
from generation.engine.reading.side_folder import BESIDE

SUMS = f"{BESIDE}/SHA256SUMS"
FORMAT_VERSION = 1


def write_facets(split: ExportSplit, folder: Path, *, prefix: str, tick: Tick) -> None:
    """Write what questions are broken down by: a line a question, comma-separated, of flags all that hold."""
    with compressed(folder / BESIDE / "facets" / f"{prefix}_{split.name}_facets.csv.gz") as file:
        file.write(",".join(["question_index", *(facet.name for facet in split.facets)]) + "\n")
        for number, row in enumerate(facet_rows(split)):
            file.write(",".join([str(number), *(_cell(value) for value in row.values())]) + "\n")
            if number % 10_000 == 0:
                tick(0)


def _cell(value: Any) -> str:
    """Return a value for a table; quoted where it has what a table means otherwise."""
    text = "" if value is None else " ".join(value) if isinstance(value, list) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n') else text


def write_about(dataset: ExportDataset, folder: Path, *, release: str) -> None:
    """Write what is known of the dataset as a whole, its spec, and the files that the spec names.

    `release` is the folder, beside ours, of what others read.
    """
    beside = folder / BESIDE
    write_json(beside / "dataset.json", about(dataset, release=release))
    write_json(beside / "spec.json", dataset.spec_json)
    for digest, content in dataset.files.items():
        (beside / "files").mkdir(exist_ok=True)
        (beside / "files" / digest).write_bytes(content)


def about(dataset: ExportDataset, *, release: str) -> dict[str, Any]:
    """Return what `horsesense/dataset.json` says."""
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
