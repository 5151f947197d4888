"""Everything a question's page shows of its scene and program, as far as the visitor may see it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from generation.access import What
from generation.browsing.areas import Area, areas_of
from generation.browsing.outlines import Place, Seen
from generation.browsing.pictures import Picture, picture_of, seen_in
from generation.browsing.player import Row, rows_of, width_of
from generation.browsing.stories import Told, supports_of, told
from generation.engine.errors import EngineError
from generation.engine.program import execute
from generation.engine.spec import BaseSpec
from generation.engine.worlds import Element, Equivalent, FacetKind, Item, Media, World
from generation.engine.worlds import Question as Asked
from generation.models import Question, Split
from generation.splits.filters import Condition, Query, label_of
from generation.storage.index import IndexedFacet, SplitIndex
from generation.storage.store import item_of

NOUNS = {Media.IMAGE: "object", Media.STORY: "line", Media.NONE: "element"}


class FactValue(NamedTuple):
    """A value of a facet, and the address of all questions that have it."""

    text: str
    address: str


class Fact(NamedTuple):
    """A facet with the values that one question has of it: of flags several, else one."""

    facet: IndexedFacet
    values: list[FactValue]


class Outlined(NamedTuple):
    """An element as it is outlined: its silhouette as SVG path data."""

    element: Element
    path: str


class Listed(NamedTuple):
    """An element in the table of objects."""

    element: Element
    cells: list[str]
    place: Place | None


class Player(NamedTuple):
    """The program at one step, or before the first (`current` is None).

    What it points at: `outlined` in the picture, `pointed_at` by id, `lines` of the story by their numbers from 1.
    """

    current: Row | None
    outlined: list[Outlined]
    pointed_at: frozenset[int]
    lines: frozenset[int]
    previous: int | None
    following: int | None
    last: int | None


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a page shows of a question.

    Attributes
    ----------
    picture : Picture or None
    story : Told or None
    supports : list of int
        The numbers of the lines that the answer stands on, as published, where there is no program that tells them.
    instruction : str
        What is asked where the question's text doesn't say it.
    facts : list of Fact
        One for each facet that the question has a value of; who may see which is for the caller to ask.
    rows : list of Row
        The program's steps; empty where there is none, or it may not be seen.
    equivalent : Equivalent or None
        The shortest equivalent question, where it is known and the program may be seen.
    graph_width : int
        Of the lines beside the steps, in pixels.
    columns : list of str
        Attributes that elements have.
    elements : list of Listed
        But for lines of a story, which are read where they stand.
    areas : list of Area
        Those elements that can be pointed at in the picture.
    seen : mapping of int to Seen, or None
        Where elements are; None where that isn't known.
    trouble : str
        Why the program can't be run, though there is one.
    """

    picture: Picture | None
    story: Told | None
    supports: list[int]
    instruction: str
    facts: list[Fact]
    rows: list[Row]
    equivalent: Equivalent | None
    columns: list[str]
    elements: list[Listed]
    areas: list[Area]
    seen: Mapping[int, Seen] | None
    trouble: str

    @property
    def graph_width(self) -> int:
        """Return how wide the lines beside the steps are, in pixels."""
        return width_of(self.rows)

    @property
    def has_places(self) -> bool:
        """Return whether it is known where elements are in the picture."""
        return self.seen is not None

    def at(self, step: int | None) -> Player:
        """Return the program at a step, with the silhouettes of what that step points at."""
        if step is None:
            return Player(None, [], frozenset(), frozenset(), None, 0 if self.rows else None, self._last)
        row = self.rows[step]
        return Player(
            current=row,
            outlined=self._outlined(row.elements),
            pointed_at=frozenset(element.id for element in row.elements),
            lines=frozenset(element.line + 1 for element in row.elements if element.line is not None),
            previous=step - 1 if step else None,
            following=step + 1 if step + 1 < len(self.rows) else None,
            last=self._last if step != self._last else None,
        )

    @property
    def _last(self) -> int | None:
        """Return the last step's number."""
        return len(self.rows) - 1 if self.rows else None

    def _outlined(self, elements: Sequence[Element]) -> list[Outlined]:
        seen = self.seen or {}
        return [Outlined(element, seen[element.id].path) for element in elements if element.id in seen]


def show(split: Split, asked: Question, *, allowed: Collection[What]) -> Shown:
    """Return what a page shows of a question to somebody who is allowed these kinds of things."""
    rows, elements, equivalent, trouble = _run(split, asked, allowed=allowed)
    seen = seen_in(asked.scene, split) if elements and What.IDS_IMAGE in allowed else None
    picture = picture_of(asked.scene, split) if What.IMAGE in allowed else None
    story = told(asked.scene, split.dataset, scope=asked.scope) if What.STORY in allowed else None
    columns = list(dict.fromkeys(name for element in elements for name in element.attributes))
    return Shown(
        picture=picture,
        story=story,
        supports=supports_of(asked, split.dataset) if story and not rows and What.PROGRAM in allowed else [],
        instruction=_instruction(split, asked),
        facts=facts_of(split, asked.position),
        rows=rows,
        equivalent=equivalent,
        columns=columns,
        elements=_listed(elements, columns=columns, seen=seen),
        areas=areas_of(elements, seen, picture) if seen and picture else [],
        seen=seen,
        trouble=trouble,
    )


class _Ran(NamedTuple):
    """What came of running a question's program; `trouble` says why something is missing."""

    rows: list[Row]
    elements: Sequence[Element]
    equivalent: Equivalent | None
    trouble: str


def _run(split: Split, asked: Question, *, allowed: Collection[What]) -> _Ran:
    """Return the steps of the program, the elements of the scene, the shortest equivalent question."""
    elements: Sequence[Element] = ()
    if What.SCENE not in allowed:
        return _Ran([], elements, None, "")
    try:
        world, spec = split.dataset.get_world(), split.read_spec()
        item = item_of(asked.scene, world=world)
        if item.scene is None:
            return _Ran([], elements, None, "")
        elements = world.elements(spec, item)
        if What.PROGRAM not in allowed or asked.steps is None:
            return _Ran([], elements, None, "")
        rows = _rows(world, spec, asked=asked, item=item, elements=elements)
        return _Ran(rows, elements, world.equivalent(spec, item, asked.steps) if rows else None, "")
    except EngineError as error:
        return _Ran([], elements, None, str(error))


def _instruction(split: Split, asked: Question) -> str:
    """Return what is asked where a question's text doesn't say it; empty where that isn't known."""
    try:
        form = split.dataset.get_world().answer_form(split.read_spec(), Asked("", kind=asked.kind))
    except EngineError:
        return ""
    return form.instruction


def facts_of(split: Split, position: int) -> list[Fact]:
    """Return the value of every facet that a question of a sealed split has."""
    if not split.is_complete:
        return []
    facts = []
    for facet in SplitIndex.open(split).facets.values():
        codes = _codes(facet, int(facet.codes[position]))
        if codes:
            facts.append(Fact(facet, [_fact_value(split, facet, code) for code in codes]))
    return facts


def _fact_value(split: Split, facet: IndexedFacet, code: int) -> FactValue:
    query = Query((Condition(facet, facet.values[code], (code,)),))
    return FactValue(label_of(facet, code), split.get_absolute_url() + query.address)


def _codes(facet: IndexedFacet, code: int) -> list[int]:
    """Return the values that a stored code stands for: none, one, or of flags several."""
    if code == facet.none:
        return []
    if facet.kind is FacetKind.FLAGS:
        return [bit for bit in range(len(facet.values)) if code >> bit & 1]
    return [code]


def _rows(world: World, spec: BaseSpec, *, asked: Question, item: Item, elements: Sequence[Element]) -> list[Row]:
    """Return the rows of a question's program; empty where it has none."""
    program, table = asked.steps, world.functions(spec)
    if program is None or table is None:
        return []
    trace = execute(program, item.scene, table=table, scope=asked.scope)
    return rows_of(program, trace, table=table, elements=elements, noun=NOUNS[world.media])


def _listed(elements: Sequence[Element], *, columns: Sequence[str], seen: Mapping[int, Seen] | None) -> list[Listed]:
    """Return the table of a scene's elements."""
    places = {element: one.place for element, one in (seen or {}).items()}
    return [
        Listed(element, [element.attributes.get(name, "") for name in columns], places.get(element.id))
        for element in elements
        if element.line is None
    ]
