"""Endless batches of pictures, words and answers that are made on demand and never stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadSpec
from generation.engine.items import Chunk, Item, Media, Question
from generation.engine.language.token_vocabulary import PADDING, Vocabulary
from generation.engine.spec import LIMITS, BaseSpec, merge
from generation.engine.worlds import find_preset, get_maker, get_world
from generation.engine.worlds.base import Models

ENOUGH = 1 << 15  # scenes; a split of this size has a full first chunk
MOST = LIMITS["scenes"].ceiling  # scenes of a split, as far as a world must know their number


class Batch(NamedTuple):
    """A batch of instances: question `i` is about `images[i]` and has the answer `answers[i]`.

    Attributes
    ----------
    images : ndarray
        `(batch, height, width, 3)` uint8 sRGB.
    words : ndarray
        `(batch, length)` int64, word numbers of the vocabulary, padded at the end.
    lengths : ndarray
        `(batch,)` int64, the number of words of each question.
    answers : ndarray
        `(batch,)` int64, answer codes of the vocabulary; -1 for a question without an answer.
    """

    images: NDArray[np.uint8]
    words: NDArray[np.int64]
    lengths: NDArray[np.int64]
    answers: NDArray[np.int64]


class Instance(NamedTuple):
    """One question about one picture.

    Attributes
    ----------
    image : ndarray
        `(height, width, 3)` uint8 sRGB. All pictures of a split have the same size.
    item : Item
    question : Question
    """

    image: NDArray[np.uint8]
    item: Item
    question: Question


class ModelBatch(NamedTuple):
    """A batch of instances together with the models of their scenes and questions.

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
    """All splits of a spec as endless batches. `generation.engine.dataset` makes one.

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
        """Return the next `n` instances of a split. The first call starts at the beginning of the stored data.

        Parameters
        ----------
        n : int
        mode : str
            One of the spec's splits.
        include_model : bool
            Whether the batch also has the models of scenes and questions.

        Raises
        ------
        BadSpec
            If the spec has no such split, or its world has no pictures.
        """
        if n < 1:
            raise ValueError(f"Expected a batch of at least 1, got {n}.")
        if mode not in self._streams:
            self._streams[mode] = Batches(self._spec, mode, batch_size=n, length=self._length, secret=self._secret)
            self._models[mode] = get_world(self._spec.world).models(self._spec.for_split(mode))
        stream, models = self._streams[mode], self._models[mode]
        found = list(islice(stream.instances, n))
        batch = stream.batch(found)
        if not include_model:
            return batch
        modelled = [models(one.item, one.question) for one in found]
        return ModelBatch(*batch, [world for world, _ in modelled], [caption for _, caption in modelled])


class Batches(Iterator[Batch]):
    """Endless batches of a split. `generation.engine.stream` makes one.

    The batches continue the split without an end: first its own scenes in their order, then those that would follow.
    Each shard makes its own chunks, so no two shards share an instance.

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
        self.instances = _instances(spec, split, count(shard, shards), secret=secret)

    def __next__(self) -> Batch:
        return self.batch(list(islice(self.instances, self._size)))

    def batch(self, found: Sequence[Instance]) -> Batch:
        """Return a list of instances as one batch of arrays."""
        words, lengths = pad([self.vocabulary.encode(one.question.text) for one in found], length=self._length)
        known = [one.question.answer for one in found]
        answers = np.array([self.vocabulary.code(answer.text if answer else None) for answer in known], np.int64)
        return Batch(np.stack([one.image for one in found]), words, lengths, answers)


def read(spec: BaseSpec | Mapping[str, Any] | str, *, seed: int | None = None) -> BaseSpec:
    """Return the spec for a spec object, its JSON or a preset's name, with another seed if given; raise `BadSpec`."""
    if isinstance(spec, str):
        spec = find_preset(spec)
    if not isinstance(spec, BaseSpec):
        if not isinstance(spec, Mapping):
            raise BadSpec(f"Expected the name of a preset, a spec or its JSON, got {type(spec).__name__}.")
        name = str((find_preset(spec["base"]) if "base" in spec else spec).get("world"))
        data, files = get_maker(name).gather(spec, folder=Path())
        spec = get_world(name).read_spec(data, files=files)
    return spec if seed is None else changed(spec, {"seed": seed})


def changed(spec: BaseSpec, changes: Mapping[str, Any]) -> BaseSpec:
    """Return a spec with changes merged into its JSON; raise `BadSpec`."""
    return get_world(spec.world).read_spec(merge(spec.to_json(), changes), files=spec.files)


def vocabulary_of(spec: BaseSpec) -> Vocabulary:
    """Return the words and answers of all splits; raise `BadSpec` if the world has no fixed list of words."""
    world = get_world(spec.world)
    parts = [spec.for_split(name) for name in spec.splits]
    words = [world.words(part) for part in parts]
    if None in words:
        raise BadSpec("Expected a world that knows its words beforehand, got one that doesn't.", where=spec.world)
    answers = dict.fromkeys(answer for part in parts for answer in world.answers(part))
    return Vocabulary({word for some in words for word in some or ()}, tuple(answers))


def pad(rows: Sequence[Sequence[int]], *, length: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return lists of numbers as one array, padded to the longest list or to `length`, and the length of each list."""
    lengths = np.array([len(row) for row in rows], np.int64)
    longest = int(lengths.max(initial=0))
    if length is not None and longest > length:
        raise ValueError(f"Expected questions of at most {length} words, got one of {longest}.")
    words = np.full((len(rows), longest if length is None else length), PADDING, np.int64)
    for at, row in enumerate(rows):
        words[at, : len(row)] = row
    return words, lengths


def _instances(spec: BaseSpec, split: str, numbers: Iterable[int], *, secret: bytes) -> Iterator[Instance]:
    """Yield the instances of the chunks with these numbers, including chunks beyond the end of the split."""
    endless = EndlessSplit(spec, split, secret=secret)
    for number in numbers:
        for item in endless.items(number):
            image = endless.draw(item)
            for question in item.questions:
                yield Instance(image, item, question)


class EndlessSplit:
    """A split of a spec that continues without an end, chunk by chunk.

    Parameters
    ----------
    spec : BaseSpec
    split : str
        One of its splits.
    secret : bytes
        The secret of a split with withheld answers, 16 bytes.

    Attributes
    ----------
    spec : BaseSpec
        The spec with a split of `MOST` scenes.
    shape : Chunk
        Chunk 0. All chunks have as many items and questions.

    Raises
    ------
    BadSpec
        If the spec has no such split, or its world is only imported.
    """

    def __init__(self, spec: BaseSpec, split: str, *, secret: bytes = b"") -> None:
        if split not in spec.splits:
            raise BadSpec(f"Expected one of {', '.join(spec.splits)}, got {split!r}.", where="split")
        self.split, self.secret, self.maker = split, secret, get_maker(spec.world)
        self.shape = first_chunk(spec, split)
        self.spec = changed(spec, {"splits": {split: {"scenes": MOST}}})

    def items(self, number: int) -> Iterator[Item]:
        """Yield the items of a chunk in order."""
        first_item, first_question = number * self.shape.items, number * self.shape.questions
        chunk = self.shape._replace(number=number, first_item=first_item, first_question=first_question)
        return self.maker.make(self.spec, self.split, chunk, secret=self.secret)

    def draw(self, item: Item) -> NDArray[np.uint8]:
        """Return an item's picture `(height, width, 3)` uint8 sRGB."""
        return self.render(item)[0] if item.image is None else item.image

    def render(self, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return an item's picture `(height, width, 3)` uint8 sRGB and its object ids `(height, width)` uint16."""
        return self.maker.render(self.spec, self.split, item)


def first_chunk(spec: BaseSpec, split: str) -> Chunk:
    """Return chunk 0 of the split as if the split were endless. All its chunks have the same size."""
    return get_maker(spec.world).plan(changed(spec, {"splits": {split: {"scenes": ENOUGH}}}), split)[0]
