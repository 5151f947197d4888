"""Data as a process: batches of pictures, words and answers for ever, made when they are asked for and never stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadSpec
from generation.engine.items import Chunk, Item, Media, Question
from generation.engine.language.vocabulary import PADDING, Vocabulary
from generation.engine.program import to_json
from generation.engine.spec import BaseSpec, merged
from generation.engine.worlds import Maker, find_preset, get_maker, get_world
from generation.engine.worlds.instances import HasInstances, HasModels, HasWords, Instance, Models

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


class MadeInstance(NamedTuple):
    """An instance, with the item and the question that it was made of, where these are handed out."""

    instance: Instance
    item: Item | None = None
    question: Question | None = None


class ModelBatch(NamedTuple):
    """Some instances with what is in the pictures and what the questions mean.

    Attributes
    ----------
    images, words, lengths, answers : ndarray
        As in `Batch`.
    world_model : list
        The scene of each question as JSON.
    caption_model : list
        The meaning of each question as JSON, or None if the question has no program.
    """

    images: NDArray[np.uint8]
    words: NDArray[np.int64]
    lengths: NDArray[np.int64]
    answers: NDArray[np.int64]
    world_model: list[Any]
    caption_model: list[Any]


class EndlessDataset:
    """All splits of a spec, without an end, batch by batch: `generation.engine.dataset` makes one.

    Attributes
    ----------
    vocabulary : Vocabulary
        The same for all splits.
    """

    def __init__(self, spec: BaseSpec, *, length: int | None = None, secret: bytes = b"") -> None:
        self.vocabulary = vocabulary_of(spec)
        self._spec, self._length, self._secret = spec, length, secret
        self._streams: dict[str, Batches] = {}
        self._models: dict[str, Models] = {}

    @overload
    def generate(self, n: int, mode: str = ..., *, include_model: Literal[True]) -> ModelBatch: ...

    @overload
    def generate(self, n: int, mode: str = ..., *, include_model: Literal[False] = ...) -> Batch: ...

    def generate(self, n: int, mode: str = "train", *, include_model: bool = False) -> Batch | ModelBatch:
        """Return the next `n` instances of a split; the first call begins with those that `generate` would store.

        Parameters
        ----------
        n : int
        mode : str
            One of the spec's splits.
        include_model : bool
            Whether the batch has models of scenes and questions too.

        Raises
        ------
        BadSpec
            If the spec has no such split, or its world has no pictures.
        """
        if n < 1:
            raise ValueError(f"Expected a batch of at least 1, got {n}.")
        if mode not in self._streams:
            self._streams[mode] = Batches(
                self._spec, mode, batch_size=n, length=self._length, secret=self._secret, has_items=True
            )
            self._models[mode] = models_of(self._spec.for_split(mode))
        stream, models = self._streams[mode], self._models[mode]
        found = list(islice(stream.instances, n))
        batch = stream.batch(found)
        if not include_model:
            return batch
        modelled = [models(one.item, one.question) for one in found if one.item and one.question]
        return ModelBatch(*batch, [world for world, _ in modelled], [caption for _, caption in modelled])


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
        has_items: bool = False,
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
        self.instances = _instances(spec, split, count(shard, shards), secret=secret, has_items=has_items)

    def __next__(self) -> Batch:
        return self.batch(list(islice(self.instances, self._size)))

    def batch(self, found: Sequence[MadeInstance]) -> Batch:
        """Return instances as arrays."""
        words, lengths = padded([self.vocabulary.encode(one.instance.text) for one in found], length=self._length)
        answers = np.array([self.vocabulary.code(one.instance.answer) for one in found], np.int64)
        return Batch(np.stack([one.instance.image for one in found]), words, lengths, answers)


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


def models_of(spec: BaseSpec) -> Models:
    """Return what models a world's items and questions: as the world has it, else scenes and programs as stored."""
    world = get_world(spec.world)
    return world.models(spec) if isinstance(world, HasModels) else _stored


def _stored(item: Item, question: Question) -> tuple[Any, Any]:
    program = None if question.program is None else to_json(question.program)
    return None if item.scene is None else item.scene.to_json(), program


def _instances(
    spec: BaseSpec, split: str, numbers: Iterable[int], *, secret: bytes, has_items: bool
) -> Iterator[MadeInstance]:
    """Yield the instances of a split's chunks, also of those that it would have if it had more scenes.

    Those that have to come with their items are made the plain way.
    """
    maker = get_maker(spec.world)
    shape = first_chunk(spec, split)
    for number in numbers:
        first_item, first_question = number * shape.items, number * shape.questions
        chunk = shape._replace(number=number, first_item=first_item, first_question=first_question)
        if isinstance(maker, HasInstances) and not has_items:
            for one in maker.instances(spec, split, chunk, secret=secret):
                yield MadeInstance(one)
        else:
            yield from _plainly(maker, spec, split, chunk, secret=secret)


def first_chunk(spec: BaseSpec, split: str) -> Chunk:
    """Return the chunk that every one of an endless split looks like."""
    maker = get_maker(spec.world)
    return maker.plan(_changed(spec, {"splits": {split: {"scenes": ENOUGH}}}), split)[0]


def plain_instances(
    maker: Maker, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes = b""
) -> Iterator[Instance]:
    """Yield a chunk's instances, each scene's picture drawn once."""
    for known in _plainly(maker, spec, split, chunk, secret=secret):
        yield known.instance


def _plainly(maker: Maker, spec: BaseSpec, split: str, chunk: Chunk, *, secret: bytes) -> Iterator[MadeInstance]:
    for item in maker.make(spec, split, chunk, secret=secret):
        image = maker.render(spec, split, item)[0] if item.image is None else item.image
        for question in item.questions:
            answer = question.answer.text if question.answer else None
            yield MadeInstance(Instance(image, question.text, answer), item, question)
