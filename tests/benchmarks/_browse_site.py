"""The two processes of the benchmark `browse`: one fills a scratch site, one measures it.

The questions are real questions of CLEVR. Those of a few scenes are repeated in random order.
"""

import json
import os
import random
import statistics
import sys
import time
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import django
import numpy as np
from numpy.typing import NDArray

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from generation.browsing.sidebar import PER_PAGE  # noqa: E402
from generation.engine.content_hash import canonical  # noqa: E402
from generation.engine.items import Chunk as EngineChunk  # noqa: E402
from generation.engine.items import Item  # noqa: E402
from generation.engine.worlds import get_maker  # noqa: E402
from generation.making.chunk_writer import question_row  # noqa: E402
from generation.making.creation import create_dataset  # noqa: E402
from generation.models import Chunk, Dataset, Question, Scene, Split  # noqa: E402
from generation.splits.sealing import NO_LEASE, WORD, Columns, Draft  # noqa: E402
from generation.storage.split_index import IndexedFacet, SplitIndex  # noqa: E402
from tests.benchmarks.generate import peak_of  # noqa: E402

SLUG = "million"
SEED = 20161220
SAMPLE = 250  # scenes
PER_SCENE = 10
WARM_UP = 10


def build(scenes: int) -> None:
    """Fill an empty site with a sealed split of `scenes` scenes."""
    call_command("migrate", verbosity=0)
    spec = {"world": "clevr", "splits": {"train": {"scenes": scenes}}}
    dataset = create_dataset(spec, slug=SLUG, visibility=Dataset.Visibility.PUBLIC)
    split = dataset.splits.get()
    sample = list(get_maker("clevr").make(split.read_spec(), "train", EngineChunk(0, 0, SAMPLE, 0, SAMPLE * PER_SCENE)))
    order = np.random.default_rng(SEED).integers(len(sample), size=scenes)
    _insert(split, sample, order)
    split.index_digest = _write_index(split, sample, order)
    split.fingerprint, split.state = "0" * 64, Split.State.COMPLETE
    split.save()
    Dataset.objects.filter(pk=dataset.pk).update(
        state=Dataset.State.COMPLETE, fingerprint="0" * 64, completed=timezone.now()
    )


def _insert(split: Split, sample: Sequence[Item], order: NDArray[np.int64]) -> None:
    """Write the rows by SQL, because a million rows would take too long through the models."""
    chunk = Chunk.objects.filter(split=split).values_list("pk", flat=True)[0]
    with transaction.atomic():
        _insert_into(Scene, ("id", *_fields(Scene)), _scene_rows(split.pk, chunk, sample, order))
        _insert_into(Question, _fields(Question), _question_rows(split.pk, sample, order))


def _fields(model: Any) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields if not field.primary_key]


def _insert_into(model: Any, columns: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
    marks = ",".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {model._meta.db_table} ({','.join(columns)}) VALUES ({marks})", rows)


def _scene_rows(split: int, chunk: int, sample: Sequence[Item], order: NDArray[np.int64]) -> Iterator[tuple[Any, ...]]:
    texts = [
        (canonical(item.scene.to_json()), canonical(item.view.to_json())) for item in sample if item.scene and item.view
    ]
    for position, which in enumerate(order.tolist()):
        scene = Scene(
            id=position + 1, split_id=split, chunk_id=chunk, position=position,
            data=texts[which][0], view=texts[which][1], image=f"{position}.png", ids_image="", width=480, height=320,
        )  # fmt: skip
        yield tuple(getattr(scene, name) for name in ("id", *_fields(Scene)))


def _question_rows(split: int, sample: Sequence[Item], order: NDArray[np.int64]) -> Iterator[tuple[Any, ...]]:
    blank = Scene(split_id=split)
    names = _fields(Question)
    rows = [[question_row(question, scene=blank, position=0) for question in item.questions] for item in sample]
    position = 0
    for scene, which in enumerate(order.tolist()):
        for row in rows[which]:
            row.split_id, row.scene_id, row.position = split, scene + 1, position
            position += 1
            yield tuple(getattr(row, name) for name in names)


def _write_index(split: Split, sample: Sequence[Item], order: NDArray[np.int64]) -> str:
    """Write the index of these scenes in the way of sealing, and return its digest."""
    columns = Columns(split)
    asked = (
        order[:, None] * PER_SCENE + np.arange(PER_SCENE)
    ).ravel()  # (questions,): the question's position in the sample
    coded = [columns.world.facet_codes(columns.spec, item) for item in sample]
    for name, column in columns.codes.items():
        _fill(column, np.array([codes[name] for codes in coded]).ravel()[asked])
    questions = [question for item in sample for question in item.questions]
    answers = [columns.answer_codes[question.answer.text] for question in questions if question.answer]
    _fill(columns.answers, np.array(answers)[asked])
    _fill(columns.scenes, np.repeat(np.arange(len(order)), PER_SCENE))
    has = [set(WORD.findall(question.text.lower())) for question in questions]
    for word in sorted(set().union(*has)):
        columns.words[word] = array("I")
        _fill(columns.words[word], np.flatnonzero(np.array([word in words for words in has])[asked]))
    columns.n = len(asked)
    with Draft(split, NO_LEASE) as draft:
        columns.write(draft.folder)
        digest = draft.digest()
        draft.publish(digest)
    return digest


def _fill(column: "array[int]", values: NDArray[Any]) -> None:
    column.frombytes(values.astype(column.typecode).tobytes())


def measure(queries: int) -> dict[str, float]:
    """Return times in ms, and the peak memory of this process in MB."""
    split = Split.objects.for_browse().get(dataset__slug=SLUG)
    index = SplitIndex.open(split)
    chance = random.Random(SEED)
    client, base = Client(SERVER_NAME="localhost"), split.get_absolute_url()
    for _ in range(WARM_UP):
        _time(client, base, _query(index, chance))
    asked = [_query(index, chance, words=number % 4 == 0) for number in range(queries)]
    busy_before = time.process_time()
    times = [_time(client, base, query) for query in asked]
    busy = 1000 * (time.process_time() - busy_before) / len(asked)
    last = -(-index.n // PER_PAGE)
    turns = [(_time(client, base, {"page": 1}), _time(client, base, {"page": last})) for _ in range(15)]
    first_page, last_page = (min(each) for each in zip(*turns, strict=True))  # without the effect of other processes
    questions = [
        _time(client, f"{base}q/{chance.randrange(index.n)}/", {**query, "page": 1}) for query in asked[: queries // 4]
    ]
    return {
        "p95": _percentile(times), "median": statistics.median(times), "busy": busy, "memory": peak_of_this(),
        "first": first_page, "last": last_page, "question": _percentile(questions),
    }  # fmt: skip


def _query(index: SplitIndex, chance: random.Random, *, words: bool = False) -> dict[str, Any]:
    """Return random filters, and a random page of the questions that they find."""
    names = chance.sample(list(index.facets), chance.randint(0 if words else 1, 4))
    query: dict[str, Any] = {name: _values(index.facets[name], chance) for name in names}
    filters = {name: [index.facets[name].values.index(value) for value in values] for name, values in query.items()}
    searched = chance.sample(index.vocabulary, chance.randint(1, 3)) if words else []
    if searched:
        query["q"] = " ".join(searched)
    found = len(index.select(filters, searched))
    return {**query, "page": chance.randint(1, max(1, -(-found // PER_PAGE)))}


def _values(facet: IndexedFacet, chance: random.Random) -> list[str]:
    occurring = sorted({facet.values[code] for code in np.unique(facet.codes).tolist() if code != facet.none})
    return chance.sample(occurring, min(len(occurring), chance.randint(1, 5)))


def _time(client: Client, address: str, query: dict[str, Any]) -> float:
    """Request a page and return the time that it took, in ms."""
    before = time.perf_counter()
    response = client.get(address, query)
    took = 1000 * (time.perf_counter() - before)
    if response.status_code != 200:
        raise RuntimeError(f"Expected a page, got {response.status_code} for {address} {query}.")
    return took


def _percentile(times: Sequence[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


def peak_of_this() -> float:
    """Return the peak memory of this process in MB."""
    return peak_of(os.getpid())


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(int(sys.argv[2]))
    else:
        sys.stdout.write(json.dumps(measure(int(sys.argv[2]))))
