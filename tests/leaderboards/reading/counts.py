"""A dataset of counting questions over CLEVR's scenes, and methods that count, repeat, miss, or give boxes."""

import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.reports.scoring import truth_of
from generation.storage.split_index import SplitIndex
from tests.leaderboards.reading.rows import method
from webapp.leaderboards import scoring, uploads
from webapp.leaderboards.models import Method
from webapp.models import User

SPLITS: dict[str, Any] = {"train": {"scenes": 40}, "test": {"scenes": 60}}
WIDTH, HEIGHT = 96, 64
KINDS = ("Counts", "Repeats", "Misses", "Boxes")
Record = dict[str, Any]


def make_dataset(slug: str, **splits: Any) -> Dataset:
    """Return a complete public dataset; its pictures are not drawn, but its boxes are known."""
    spec = {
        "world": "counting",
        "base": "clevr-counting-mini",
        "splits": splits or SPLITS,
        "images": {"width": WIDTH, "height": HEIGHT},
        "scene": {"min_pixels": 4},
    }
    dataset = dataset_jobs.start(spec, slug=slug, visibility="public", images=False)
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    return dataset


def split_of(dataset: Dataset, name: str) -> Split:
    return Split.objects.for_browse().get(dataset=dataset, name=name)


def numbers_of(split: Split) -> list[int]:
    """Return the right answers of a split as numbers."""
    index = SplitIndex.open(split)
    return [int(index.answer_values[code]) for code in truth_of(index).tolist()]


def records_of(kind: str, split: Split, *, seed: int = 0) -> Iterator[Record]:
    """Yield the predictions of a simulated method as records."""
    chance, numbers = np.random.default_rng(seed), numbers_of(split)
    boxes = SplitIndex.open(split).boxes
    assert boxes is not None
    frequent = int(np.bincount(numbers_of(split_of(split.dataset, "train"))).argmax())
    for at, number in enumerate(numbers):
        if kind == "Counts":
            answer: float = number if chance.random() < 0.9 else number + 1
            yield {"question_id": at, "answer": min(15, answer)}
        elif kind == "Repeats":
            yield {"question_id": at, "answer": frequent}
        elif kind == "Misses":
            yield {"question_id": at, "answer": round(number + chance.normal(0, 1.3), 3)}
        else:
            found = boxes.of(at)
            assert found is not None
            yield {"question_id": at, **_grounded(found.tolist(), chance)}


def _grounded(true: list[list[float]], chance: np.random.Generator) -> Record:
    """Return boxes near the true ones with high scores, and one anywhere with a low score; their sum is the answer."""
    moved = [[edge + float(chance.normal(0, 1)) for edge in box] for box in true]
    boxes = [_inside([min(a, c), min(b, d), max(a, c), max(b, d)]) for a, b, c, d in moved]
    scores = [round(float(chance.uniform(0.6, 1)), 3) for _ in boxes]
    left, top = (float(chance.uniform(0, side - 12)) for side in (WIDTH, HEIGHT))
    boxes.append([left, top, left + 10, top + 10])
    scores.append(round(float(chance.uniform(0, 0.4)), 3))
    return {"answer": round(sum(scores), 3), "boxes": boxes, "scores": scores}


def _inside(box: list[float]) -> list[float]:
    return [min(max(edge, 0.0), side) for edge, side in zip(box, (WIDTH, HEIGHT) * 2, strict=True)]


def submit(by: Method, split: Split, records: list[Record], **more: Any) -> None:
    """Upload predictions as JSON lines, and score them."""
    content = "".join(json.dumps(record) + "\n" for record in records).encode()
    uploads.receive(by.owner, uploads.Order(by, split, **more), io.BytesIO(content), "predictions.jsonl")
    while (claimed := scoring.RUNNER.claim_first(scoring.RUNNER.rows.claimable())) is not None:
        scoring.RUNNER.run(claimed)


def submit_all(owner: User, split: Split) -> dict[str, Method]:
    """Submit each simulated method once, and return the methods by name."""
    found = {}
    for kind in KINDS:
        found[kind] = method(owner, kind)
        submit(found[kind], split, list(records_of(kind, split)))
    return found
