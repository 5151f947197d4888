"""Datasets to train on: endless items of a spec, by their index, at a level of difficulty."""

import operator
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, TypeVar, overload

import numpy as np

from generation.engine.endless_dataset import EndlessSplit, read
from generation.engine.environment.items import EnvironmentItem, Pixels
from generation.engine.environment.rewards import score_answer
from generation.engine.errors import BadSpec
from generation.engine.formats import value_of
from generation.engine.items import Facet, FacetKind, Item, Media, Needs
from generation.engine.only_never_rules import RuleValues
from generation.engine.scoring.steps import expected_steps
from generation.engine.spec import BaseSpec
from generation.engine.worlds import World, get_world
from generation.engine.worlds.levels import Change, Level, LevelAttribute, Trend, apply, choose
from generation.engine.worlds.story_text import prompt_of, seen_by, story_of

CHUNKS = 4  # chunks whose scenes are kept
PICTURES = 16  # pictures that are kept; successive questions are often about the same one
ENDLESS = 10**15  # items of a dataset without an end; the numbers of their chunks are exact as floats

Value = TypeVar("Value")


def create_dataset(
    preset_or_spec: BaseSpec | Mapping[str, Any] | str,
    size: int | None = None,
    seed: int = 0,
    *,
    split: str | None = None,
) -> "EnvironmentDataset":
    """Return a dataset to train on.

    Item `i` depends on the spec, the seed and the split alone. The first items are those that the command `generate`
    would store for the split if its answers are open, and the others are those that would follow if it were longer.

    Parameters
    ----------
    preset_or_spec : BaseSpec, mapping or str
        A spec, its JSON (with files named relative to the working directory) or a preset's name.
    size : int, optional
        The number of items; None for a dataset without an end.
    seed : int
        The seed, 0 .. 2**64-1, which replaces the spec's.
    split : str, optional
        One of the spec's splits; by default `train`, or the first split if there is no `train`.

    Returns
    -------
    EnvironmentDataset

    Raises
    ------
    BadSpec
        If the spec is wrong or has no such split, or if its world can only be imported.
    ValueError
        If the size is not a positive number.

    Examples
    --------
    >>> from generation.engine.environment import create_dataset, score_answer
    >>> dataset = create_dataset("clevr-mini", size=100, seed=1)
    >>> item = dataset[3]
    >>> score_answer(f"Answer: {item.answer}", item)
    1.0
    """
    size, seed = _plain_int(size), _plain_int(seed)
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise ValueError(f"Expected a size of at least 1, or None for a dataset without an end, got {size!r}.")
    spec = read(preset_or_spec, seed=seed)
    return EnvironmentDataset(spec, split=_default_split(spec) if split is None else split, size=size)


def _default_split(spec: BaseSpec) -> str:
    return "train" if "train" in spec.splits else next(iter(spec.splits))


def _plain_int(value: Value) -> Value | int:
    """Return an integer of NumPy as a Python integer, and any other value as it is."""
    return int(value) if isinstance(value, np.integer) else value


def at_levels(world: World, spec: BaseSpec, split: str, changes: Sequence[Change]) -> BaseSpec:
    """Return a spec of one split with the changes of levels. Its overrides are merged first, so they hide no change.

    Parameters
    ----------
    world : World
    spec : BaseSpec
        A spec of this world.
    split : str
        One of its splits.
    changes : sequence of Change

    Returns
    -------
    BaseSpec

    Raises
    ------
    BadSpec
        If the spec has no such split, or cannot have these changes.
    """
    if split not in spec.splits:
        raise BadSpec(f"Expected one of {', '.join(spec.splits)}, got {split!r}.", where="split")
    own = spec.for_split(split)
    facets = {one.name: RuleValues(one.values, one.kind is FacetKind.INTEGER) for one in world.facets(own)}
    data = {**own.to_json(), "splits": {split: {"scenes": spec.splits[split].scenes}}}
    found: BaseSpec = world.read_stored_spec(apply(data, changes, facets=facets), files=spec.files)
    return found


class EnvironmentDataset(Sequence[EnvironmentItem]):
    """The items of a split, by their index. `create_dataset` makes one.

    A dataset can be pickled and used in several processes, forked or not: each of them makes the items that it needs.
    It must not be used by several threads at the same time.

    Parameters
    ----------
    spec : BaseSpec
    split : str
        One of its splits.
    size : int or None
        The number of items; None for a dataset without an end.
    levels : mapping of str to Level
        The level of each attribute that `at` set.

    Attributes
    ----------
    spec : BaseSpec
        The spec without levels.
    split : str
    size : int or None
    levels : mapping of str to Level
    """

    def __init__(
        self, spec: BaseSpec, *, split: str, size: int | None = None, levels: Mapping[str, Level] | None = None
    ) -> None:
        self.spec, self.split, self.size = spec, split, size
        self.levels: Mapping[str, Level] = dict(levels or {})
        self._world = get_world(spec.world)
        known = {one.name: one for one in self._world.levels}
        changes = [known[name].change(level) for name, level in self.levels.items()]
        self._source = EndlessSplit(at_levels(self._world, spec, split, changes) if changes else spec, split)
        self._own = self._source.spec.for_split(split)
        self._facets = {facet.name: facet for facet in self._world.facets(self._own)}
        self._chunks: OrderedDict[int, _Chunk] = OrderedDict()
        self._pictures: OrderedDict[tuple[int, int], Pixels] = OrderedDict()

    @property
    def facets(self) -> tuple[Facet, ...]:
        """Return the facets that can be computed from an item alone, in order."""
        return tuple(facet for facet in self._facets.values() if facet.needs is Needs.ITEM)

    @property
    def chunk_size(self) -> int:
        """Return how many successive items are made together; index 0 begins the first of these chunks."""
        return self._source.shape.questions

    # Levels

    @property
    def attributes(self) -> tuple[LevelAttribute, ...]:
        """Return the attributes of the world's levels, which `at` sets."""
        return self._world.levels

    def at(self, level: str | None = None, /, **attributes: Level) -> "EnvironmentDataset":
        """Return a dataset of the same split, size and seed at another level.

        Parameters
        ----------
        level : str, optional
            `easy`, `medium` or `hard`, for all attributes of the world at once.
        **attributes : str or int
            The level of single attributes, by name or as a number: `at("easy", objects=2)`. Attributes that are not
            named keep the level that an earlier `at` gave them.

        Returns
        -------
        EnvironmentDataset

        Raises
        ------
        BadSpec
            If the world has no such attribute or level, or the spec cannot have it.
        """
        chosen = {name: _plain_int(value) for name, value in attributes.items()}
        levels = {**self.levels, **choose(self._world.levels, level, chosen)}
        return EnvironmentDataset(self.spec, split=self.split, size=self.size, levels=levels)

    def with_seed(self, seed: int) -> "EnvironmentDataset":
        """Return a dataset of the same split, size and levels with another seed.

        Parameters
        ----------
        seed : int
            0 .. 2**64-1.

        Returns
        -------
        EnvironmentDataset

        Raises
        ------
        BadSpec
            If the seed is not a number in this range.
        """
        spec = read(self.spec, seed=_plain_int(seed))
        return EnvironmentDataset(spec, split=self.split, size=self.size, levels=self.levels)

    # Items

    def __len__(self) -> int:
        if self.size is None:
            raise TypeError("Expected a dataset with a size, got one without an end: pass a size to create_dataset.")
        return self.size

    @overload
    def __getitem__(self, index: int) -> EnvironmentItem: ...

    @overload
    def __getitem__(self, index: slice) -> list[EnvironmentItem]: ...

    def __getitem__(self, index: int | slice) -> EnvironmentItem | list[EnvironmentItem]:
        if isinstance(index, slice):
            return [self[at] for at in self._range(index)]
        asked = operator.index(index)
        place = asked + self.size if asked < 0 and self.size is not None else asked
        end = ENDLESS if self.size is None else self.size
        if not 0 <= place < end:
            below = "" if self.size is None and place < 0 else f" below {end:,}"
            raise IndexError(f"Expected an index from 0{below}, got {index}.")
        number, within = divmod(place, self.chunk_size)
        return self._chunk(number).item(within, index=place)

    def _range(self, part: slice) -> range:
        if self.size is not None:
            return range(self.size)[part]
        step = 1 if part.step is None else part.step
        is_from_end = part.start is None and step < 0
        if is_from_end or part.stop is None or part.stop < 0 or (part.start or 0) < 0:
            raise IndexError(
                "Expected a slice with an end and without negative numbers, because the dataset has no end."
            )
        return range(part.start or 0, part.stop, step)

    def __iter__(self) -> Iterator[EnvironmentItem]:
        return self.iterate()

    def iterate(self, start: int = 0, *, shard: int = 0, shards: int = 1) -> Iterator[EnvironmentItem]:
        """Yield items in order, without an end if the dataset has none.

        Parameters
        ----------
        start : int
            The index of the first item, for example to continue an interrupted training.
        shard, shards : int
            The number of this shard, from 0, and the number of shards. Each item is in exactly one shard.
            A shard has whole chunks, so that no scene is made twice; a dataset smaller than a chunk is in one shard.

        Yields
        ------
        EnvironmentItem
        """
        if start < 0 or not 0 <= shard < shards:
            came = f"start {start}, shard {shard} of {shards}"
            raise ValueError(
                f"Expected a start of at least 0, and a shard that is at least 0 and below shards, got {came}."
            )
        return self._iterate(start, shard, shards)

    def _iterate(self, start: int, shard: int, shards: int) -> Iterator[EnvironmentItem]:
        each = self.chunk_size
        for number in count(start // each):
            first = number * each
            if self.size is not None and first >= self.size:
                return
            if number % shards == shard:
                end = first + each if self.size is None else min(first + each, self.size)
                yield from (self[place] for place in range(max(start, first), end))

    def score_answer(self, reply: str | None, item: EnvironmentItem, *, is_cut: bool = False) -> float:
        """Return the reward of a reply. See `generation.engine.environment.score_answer`."""
        return score_answer(reply, item, is_cut=is_cut)

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.spec.world, self.spec.to_json(), dict(self.spec.files), self.split, self.size, dict(self.levels))
        return _rebuild, state

    # Making

    def _chunk(self, number: int) -> "_Chunk":
        if number not in self._chunks:
            self._chunks[number] = _Chunk(self, number)
            if len(self._chunks) > CHUNKS:
                self._chunks.popitem(last=False)
        self._chunks.move_to_end(number)
        return self._chunks[number]

    def _draw(self, place: tuple[int, int], item: Item) -> Pixels:
        """Return the picture of an item, at a place among chunks and items."""
        if place not in self._pictures:
            self._pictures[place] = self._source.draw(item)
            if len(self._pictures) > PICTURES:
                self._pictures.popitem(last=False)
        self._pictures.move_to_end(place)
        return self._pictures[place]

    def _make(self, chunk: "_Chunk", at: int, number: int, *, index: int) -> EnvironmentItem:
        """Return the question `number` of item `at` of a chunk."""
        world, item = self._world, chunk.items[at]
        asked, lines = item.questions[number], story_of(world, item.scene)
        assert asked.answer is not None, "generated questions have answers"
        return EnvironmentItem(
            index=index,
            prompt=prompt_of(world, self._own, asked, lines),
            answer=asked.answer.text,
            form=world.reply_form(self._own, asked),
            measures={one.name: one.facet for one in world.levels if one.trend is not Trend.VARIETY},
            story=None if lines is None else seen_by(asked, lines),
            asked=asked,
            scene_item=item,
            draw=partial(self._draw, (chunk.number, at), item) if world.media is Media.IMAGE else None,
            classify=partial(chunk.facets, at, number),
            solve=partial(expected_steps, item, number, spec=self._own),
        )


class _Chunk:
    """The items of one chunk. They are made when they are needed."""

    def __init__(self, dataset: EnvironmentDataset, number: int) -> None:
        self.dataset, self.number = dataset, number
        self.making = dataset._source.items(number)
        self.items: list[Item] = []
        self.places: list[tuple[int, int]] = []  # for each question, its item and its number among that item's
        self.codes: dict[int, Mapping[str, Sequence[int]]] = {}

    def item(self, within: int, *, index: int) -> EnvironmentItem:
        """Return the question at a place within the chunk."""
        while len(self.places) <= within:
            made = self._next()
            if made is None:
                raise IndexError(f"Expected an index of a question that the spec can make, got {index}.")
            self.places += [(len(self.items), number) for number in range(len(made.questions))]
            self.items.append(made)
        at, number = self.places[within]
        return self.dataset._make(self, at, number, index=index)

    def _next(self) -> Item | None:
        """Return the next item, or None after the last one. An interrupted chunk is made again when it is needed."""
        try:
            return next(self.making, None)
        except BaseException:
            self.dataset._chunks.pop(self.number, None)
            raise

    def facets(self, at: int, number: int) -> dict[str, Any]:
        """Return the value of each facet for question `number` of item `at`."""
        dataset = self.dataset
        if at not in self.codes:
            self.codes[at] = dataset._world.facet_codes(dataset._own, self.items[at])
        return {name: value_of(dataset._facets[name], codes[number]) for name, codes in self.codes[at].items()}


def _rebuild(
    world: str, spec: dict[str, Any], files: dict[str, bytes], split: str, size: int | None, levels: dict[str, Level]
) -> EnvironmentDataset:
    """Return the dataset that `__reduce__` described."""
    own = get_world(world).read_stored_spec(spec, files=files)
    return EnvironmentDataset(own, split=split, size=size, levels=levels)
