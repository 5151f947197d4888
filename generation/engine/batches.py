"""Data as a process: batches of pictures, words and answers for ever, made when they are asked for and never stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadSpec
from generation.engine.spec import BaseSpec, merged
from generation.engine.vocabulary import PADDING, Vocabulary
from generation.engine.worlds import Chunk, Maker, Media, find_preset, get_maker, get_world
from generation.engine.worlds.instances import HasInstances, HasWords, Instance

ENOUGH = 1 << 15  # scenes: a split of so many has a first chunk that is whole


class Batch(NamedTuple):
    """Some instances: question `i` has `answers[i]` about `images[i]`.

    Attributes
    ----------
    images : ndarray
        `(batch, height, width, 3)` uint8 sRGB.
    words : ndarray
        `(batch, length)` int64, numbers of the vocabulary's words, padded at the end.
    lengths : ndarray
        `(batch,)` int64, how many words each question has.
    answers : ndarray
        `(batch,)` int64, codes of the vocabulary's answers; -1 where there is none.
    """

    images: NDArray[np.uint8]
    words: NDArray[np.int64]
    lengths: NDArray[np.int64]
    answers: NDArray[np.int64]


class Batches(Iterator[Batch]):
    """Batches of a split, without an end: `generation.engine.stream` makes one.

    They are what the split would have if it were endless: its own scenes in their order, then those that would come
    next. Of several shards each has chunks of its own, so none has what another one has.

    Attributes
    ----------
    vocabulary : Vocabulary
        The same for all splits of a spec.
    """

    def __init__(
        self,
        spec: BaseSpec,
        split: str,
        *,
        batch_size: int,
        shard: int = 0,
        shards: int = 1,
        length: int | None = None,
        secret: bytes = b"",
    ) -> None:
        if get_world(spec.world).media != Media.IMAGE:
            raise BadSpec("Expected a world with pictures, got one without.", where=spec.world)
        if split not in spec.splits:
            raise BadSpec(f"Expected one of {', '.join(spec.splits)}, got {split!r}.", where="split")
        if batch_size < 1 or not 0 <= shard < shards:
            came = f"batches of {batch_size}, shard {shard} of {shards}"
            raise ValueError(f"Expected batches of at least 1, and a shard from 0 to below their number, got {came}.")
        self.vocabulary = vocabulary_of(spec)
        self._size, self._length = batch_size, length
        self._instances = _instances(spec, split, count(shard, shards), secret=secret)

    def __next__(self) -> Batch:
        found = list(islice(self._instances, self._size))
        words, lengths = padded([self.vocabulary.encode(one.text) for one in found], length=self._length)
        answers = np.array([self.vocabulary.code(one.answer) for one in found], np.int64)
        return Batch(np.stack([one.image for one in found]), words, lengths, answers)


def read(spec: BaseSpec | Mapping[str, Any] | str, *, seed: int | None = None) -> BaseSpec:
    """Return a spec that is given as such, as JSON or by a preset's name, with another seed; raise `BadSpec`."""
    if isinstance(spec, str):
        spec = find_preset(spec)
    if not isinstance(spec, BaseSpec):
        name = str((find_preset(spec["base"]) if "base" in spec else spec).get("world"))
        data, files = get_maker(name).gather(spec, folder=Path())
        spec = get_world(name).read_spec(data, files=files)
    return spec if seed is None else _changed(spec, {"seed": seed})


def _changed(spec: BaseSpec, changes: Mapping[str, Any]) -> BaseSpec:
    return get_world(spec.world).read_spec(merged(spec.to_json(), changes), files=spec.files)


def vocabulary_of(spec: BaseSpec) -> Vocabulary:
    """Return the words and answers of all splits; raise `BadSpec` where the world doesn't know its words."""
    world = get_world(spec.world)
    if not isinstance(world, HasWords):
        raise BadSpec("Expected a world that knows its words beforehand, got one that doesn't.", where=spec.world)
    parts = [spec.for_split(name) for name in spec.splits]
    answers = dict.fromkeys(answer for part in parts for answer in world.answers(part))
    return Vocabulary({word for part in parts for word in world.words(part)}, tuple(answers))


def padded(rows: Sequence[Sequence[int]], *, length: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of numbers as one array, padded to the longest or to a length, and how long each is."""
    lengths = np.array([len(row) for row in rows], np.int64)
    longest = int(lengths.max(initial=0))
    if length is not None and longest > length:
        raise ValueError(f"Expected questions of at most {length} words, got one of {longest}.")
    words = np.full((len(rows), longest if length is None else length), PADDING, np.int64)
    for at, row in enumerate(rows):
        words[at, : len(row)] = row
    return words, lengths


def _instances(spec: BaseSpec, split: str, numbers: Iterable[int], *, secret: bytes) -> Iterator[Instance]:
    """Yield the instances of a split's chunks, also of those that it would have if it had more scenes."""
    maker = get_maker(spec.world)
    shape = first_chunk(spec, split)
    make = maker.instances if isinstance(maker, HasInstances) else partial(plain_instances, maker)
    for number in numbers:
        first_item, first_question = number * shape.items, number * shape.questions
        chunk = shape._replace(number=number, first_item=first_item, first_question=first_question)
        yield from make(spec, split, chunk, secret=secret)


def first_chunk(spec: BaseSpec, split: str) -> Chunk:
    """Return the chunk that every one of an endless split looks like."""
    maker = get_maker(spec.world)
    return maker.plan(_changed(spec, {"splits": {split: {"scenes": ENOUGH}}}), split)[0]


def plain_instances(
    maker: Maker, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b""
) -> Iterator[Instance]:
    """Yield a chunk's instances, each scene's picture drawn once."""
    for item in maker.make(spec, split, chunk, secret=secret):
        image = maker.render(spec, split, item)[0] if item.image is None else item.image
        for question in item.questions:
            yield Instance(image, question.text, question.answer.text if question.answer else None)
