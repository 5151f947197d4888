"""The content of a question's page: its scene, its program as a list of steps, and the objects in the picture.

It contains only what the user may see.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from generation.access import What
from generation.browsing.outlines import ElementPlace, VisibleElement
from generation.browsing.pictures import Picture, picture_of, visible_elements
from generation.browsing.stories import StoryView, story_view, supports_of
from generation.engine.errors import EngineError
from generation.engine.items import Element, Equivalent, FacetKind, Item, Media
from generation.engine.items import Question as Asked
from generation.engine.program import FunctionTable, Program, Trace, TraceStep, execute
from generation.engine.spec import BaseSpec
from generation.engine.worlds import World
from generation.models import Question, Split
from generation.splits.query_string import Condition, Query, label_of
from generation.storage.items import item_of
from generation.storage.split_index import IndexedFacet, SplitIndex

LETTERS_ACROSS = 58  # per width of a picture
WIDE = 0.56  # approximate width of a letter, relative to its height
PADDING = 0.5  # letters


class Tip(NamedTuple):
    """A label in the picture, in its pixels: the box, and the position of its text."""

    x: float
    y: float
    width: float
    height: float
    middle: float
    base: float
    size: float


class Area(NamedTuple):
    """An element's silhouette with its label."""

    element: Element
    text: str
    path: str
    tip: Tip


def areas_of(elements: Iterable[Element], seen: Mapping[int, VisibleElement], picture: Picture) -> list[Area]:
    """Return an area for each visible element."""
    return [
        Area(element, text, seen[element.id].path, tip_for(text, seen[element.id], picture))
        for element in elements
        if element.id in seen
        for text in [text_of(element)]
    ]


def text_of(element: Element) -> str:
    missing = [value for value in element.attributes.values() if value not in element.label]
    return ", ".join([f"{element.id}: {element.label}", *missing])


def tip_for(text: str, seen: VisibleElement, picture: Picture) -> Tip:
    """Return the position of a label: above the element, or below if there is no space, and inside the picture."""
    size = picture.width / LETTERS_ACROSS / WIDE
    width, height = (len(text) + 2 * PADDING) * size * WIDE, 1.5 * size
    middle = min(max(seen.place.x, width / 2), max(picture.width - width / 2, width / 2))
    above = seen.top - height - size / 4
    y = above if above >= 0 else min(seen.bottom + size / 4, picture.height - height)
    numbers = (middle - width / 2, y, width, height, middle, y + 1.08 * size, size)
    return Tip(*(round(number, 1) for number in numbers))


LANE_WIDTH = 14


class GraphLines(NamedTuple):
    """The lines of one row of the graph, in pixels: columns of its node, of its inputs, and of lines that pass it."""

    node: int
    joins: tuple[int, ...]
    passes: tuple[int, ...]
    goes_on: bool


class StepRow(NamedTuple):
    """One step of a program.

    Attributes
    ----------
    number : int
        From 0, as in `inputs`.
    label : str
    values : tuple of str
    inputs : tuple of int
        Empty if the only input is the step before.
    outcome : str
        The step's output in words; for a set, its size.
    elements : tuple of Element
        The elements to which it refers.
    lines : GraphLines
    """

    number: int
    label: str
    values: tuple[str, ...]
    inputs: tuple[int, ...]
    outcome: str
    elements: tuple[Element, ...]
    lines: GraphLines


def rows_of(
    program: Program,
    trace: Trace,
    *,
    table: FunctionTable,
    elements: Sequence[Element],
    noun: str = "object",
) -> list[StepRow]:
    """Return a program's steps for users."""
    by_id = {element.id: element for element in elements}
    lines = graph(program)
    rows = []
    for number, step in enumerate(program):
        function = table.functions.get(step.function)
        rows.append(
            StepRow(
                number=number,
                label=(function.label if function else "") or step.function.replace("_", " "),
                values=step.values,
                inputs=() if step.inputs == (number - 1,) else step.inputs,
                outcome=in_words(trace[number], noun=noun),
                elements=tuple(by_id[one] for one in trace[number].elements if one in by_id),
                lines=lines[number],
            )
        )
    return rows


def in_words(step: TraceStep, *, noun: str = "object") -> str:
    """Return a step's output in words: yes or no, a number, a value, or the number of elements."""
    if isinstance(step.value, bool):
        return "yes" if step.value else "no"
    if isinstance(step.value, list | tuple | Mapping) or (step.elements and step.value is None):
        listed = step.value if isinstance(step.value, list | tuple) else ()
        return count_noun(len(step.elements) or len(listed), noun)
    return _plain(step.value, step.elements, noun)


def count_noun(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _plain(value: Any, elements: tuple[int, ...], noun: str) -> str:
    if elements == (value,) and isinstance(value, int):
        return count_noun(1, noun)  # `value` is the id of the element
    return "nothing" if value is None else str(value)


def graph(program: Program) -> list[GraphLines]:
    """Return the lines that connect a program's steps: each step is in the lane of its first input, or in a new one."""
    last_use = {source: number for number, step in enumerate(program) for source in step.inputs}
    lane_of: dict[int, int] = {}
    rows: list[GraphLines] = []
    for number, step in enumerate(program):
        is_open = [source for source in lane_of if last_use.get(source, -1) >= number]
        taken = {lane_of[source] for source in is_open if last_use[source] > number}
        free = [lane_of[source] for source in step.inputs if lane_of[source] not in taken]
        occupied = {lane_of[source] for source in is_open} if not free else taken
        lane = min(free) if free else next(n for n in range(len(program) + 1) if n not in occupied)
        passes = sorted({lane_of[source] for source in is_open if last_use[source] > number})
        joins = [lane_of[source] for source in step.inputs]
        lane_of[number] = lane
        rows.append(GraphLines(_x(lane), tuple(map(_x, joins)), tuple(map(_x, passes)), number in last_use))
    return rows


def width_of(rows: Sequence[StepRow]) -> int:
    columns = [column for row in rows for column in (row.lines.node, *row.lines.passes)]
    return max(columns, default=0) + LANE_WIDTH // 2 + 1


def _x(lane: int) -> int:
    return LANE_WIDTH // 2 + 1 + LANE_WIDTH * lane


NOUNS = {Media.IMAGE: "object", Media.STORY: "line", Media.NONE: "element"}


class FactValue(NamedTuple):
    text: str
    address: str  # of all questions with this value


class FacetFact(NamedTuple):
    facet: IndexedFacet
    values: list[FactValue]  # several for flags, otherwise one


class OutlinedElement(NamedTuple):
    element: Element
    path: str  # SVG path data


class ListedElement(NamedTuple):
    element: Element
    cells: list[str]
    place: ElementPlace | None


class Player(NamedTuple):
    """The program at one step, or before the first step (`current` is None).

    The step refers to the elements `outlined` in the picture, `pointed_at` (ids) and `lines` of the story, from 1.
    """

    current: StepRow | None
    outlined: list[OutlinedElement]
    pointed_at: frozenset[int]
    lines: frozenset[int]
    previous: int | None
    following: int | None
    last: int | None


@dataclass(frozen=True, kw_only=True)
class QuestionView:
    """The content of a question's page.

    Attributes
    ----------
    picture : Picture or None
    story : StoryView or None
    supports : list of int
        The numbers of the lines on which the answer depends, as published, if no program shows them.
    instruction : str
        What to do, if the question's text does not say it.
    facts : list of FacetFact
        One for each facet of which the question has a value. The caller must check which of them the user may see.
    rows : list of StepRow
        The program's steps; empty if there is none, or if the user may not see it.
    equivalent : Equivalent or None
        The shortest equivalent question, if it is known and the user may see the program.
    graph_width : int
        Width of the lines beside the steps, in pixels.
    columns : list of str
        The attributes of the elements.
    elements : list of ListedElement
        Without the lines of a story.
    areas : list of Area
        The elements that can be pointed at in the picture.
    seen : mapping of int to VisibleElement, or None
        The visible part of each element; None if it is not known.
    trouble : str
        Why the program cannot be run; empty if it can.
    """

    picture: Picture | None
    story: StoryView | None
    supports: list[int]
    instruction: str
    facts: list[FacetFact]
    rows: list[StepRow]
    equivalent: Equivalent | None
    columns: list[str]
    elements: list[ListedElement]
    areas: list[Area]
    seen: Mapping[int, VisibleElement] | None
    trouble: str

    @property
    def graph_width(self) -> int:
        return width_of(self.rows)

    @property
    def has_places(self) -> bool:
        return self.seen is not None

    def at(self, step: int | None) -> Player:
        """Return the program at a step, with the silhouettes of the elements to which that step refers."""
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
        return len(self.rows) - 1 if self.rows else None

    def _outlined(self, elements: Sequence[Element]) -> list[OutlinedElement]:
        seen = self.seen or {}
        return [OutlinedElement(element, seen[element.id].path) for element in elements if element.id in seen]


def show(split: Split, asked: Question, *, allowed: Collection[What]) -> QuestionView:
    """Return the content of a question's page for a user who may see these kinds of things."""
    rows, elements, equivalent, trouble = _run(split, asked, allowed=allowed)
    seen = visible_elements(asked.scene, split) if elements and What.IDS_IMAGE in allowed else None
    picture = picture_of(asked.scene, split) if What.IMAGE in allowed else None
    story = story_view(asked.scene, split.dataset, scope=asked.scope) if What.STORY in allowed else None
    columns = list(dict.fromkeys(name for element in elements for name in element.attributes))
    return QuestionView(
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
    """The result of running a question's program; `trouble` says why something is missing."""

    rows: list[StepRow]
    elements: Sequence[Element]
    equivalent: Equivalent | None
    trouble: str


def _run(split: Split, asked: Question, *, allowed: Collection[What]) -> _Ran:
    """Return the program's steps, the scene's elements and the shortest equivalent question."""
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
    """Return what to do if a question's text does not say it; empty if it does, or if it is not known."""
    try:
        form = split.dataset.get_world().answer_form(split.read_spec(), Asked("", kind=asked.kind))
    except EngineError:
        return ""
    return form.instruction


def facts_of(split: Split, position: int) -> list[FacetFact]:
    """Return the facet values of a question; empty if the split is not complete."""
    if not split.is_complete:
        return []
    facts = []
    for facet in SplitIndex.open(split).facets.values():
        codes = _codes(facet, int(facet.codes[position]))
        if codes:
            facts.append(FacetFact(facet, [_fact_value(split, facet, code) for code in codes]))
    return facts


def _fact_value(split: Split, facet: IndexedFacet, code: int) -> FactValue:
    query = Query((Condition(facet, facet.values[code], (code,)),))
    return FactValue(label_of(facet, code), split.get_absolute_url() + query.address)


def _codes(facet: IndexedFacet, code: int) -> list[int]:
    """Return the values that a stored code stands for: none, one, or several for flags."""
    if code == facet.none:
        return []
    if facet.kind is FacetKind.FLAGS:
        return [bit for bit in range(len(facet.values)) if code >> bit & 1]
    return [code]


def _rows(world: World, spec: BaseSpec, *, asked: Question, item: Item, elements: Sequence[Element]) -> list[StepRow]:
    """Return the steps of a question's program; empty without a program."""
    program, table = asked.steps, world.functions(spec)
    if program is None or table is None:
        return []
    trace = execute(program, item.scene, table=table, scope=asked.scope)
    return rows_of(program, trace, table=table, elements=elements, noun=NOUNS[world.media])


def _listed(
    elements: Sequence[Element], *, columns: Sequence[str], seen: Mapping[int, VisibleElement] | None
) -> list[ListedElement]:
    """Return the table of a scene's elements."""
    places = {element: one.place for element, one in (seen or {}).items()}
    return [
        ListedElement(element, [element.attributes.get(name, "") for name in columns], places.get(element.id))
        for element in elements
        if element.line is None
    ]
