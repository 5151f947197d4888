"""The meaning of a caption, made of nouns, bodies and statements, and the program of a meaning.

Captioners make meanings. Sentences are written from meanings and parsed into them, and programs are made from them.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from generation.engine.program import Program, Step
from generation.engine.worlds.shapeworld.phrases import CONNECTIVES, HAVING, NEAR, ONLY, PLANAR, PROXIMITIES

CACHED = 1_000  # meanings whose programs are cached; a larger cache costs more in garbage collection than it saves
NOT = "not "  # prefix of a negated relation


class Noun(NamedTuple):
    """A noun with a shape, a colour, both or neither: a square, a red shape, a red square, a shape."""

    shape: str | None = None
    color: str | None = None

    @property
    def named(self) -> int:
        """The number of attributes that the noun names."""
        return (self.shape is not None) + (self.color is not None)


class SelectedEntity(NamedTuple):
    """One entity of a noun: the leftmost square, the square closest to the red circle, the only square."""

    selector: str
    noun: Noun
    near: Noun | None = None


class Relation(NamedTuple):
    """A relation to something: to the left of a circle, closer to the circle than the cross is."""

    relation: str
    reference: Noun
    definite: bool = False
    negated: bool = False
    comparison: Noun | None = None


Body = Noun | Relation


class There(NamedTuple):
    """An existential statement: there is a red square; there is a square that is red."""

    noun: Noun
    body: Noun | None = None


class QuantifiedStatement(NamedTuple):
    """A quantifier with a restrictor and a body; `bound` is the stated number of the restrictor's entities, or None."""

    quantifier: str
    restrictor: Noun | SelectedEntity
    body: Body
    bound: int | None = None


class ComparedCounts(NamedTuple):
    """A comparison of two numbers: how many of `restrictor` and how many of `other` have the body's property."""

    comparison: str
    restrictor: Noun
    other: Noun
    body: Noun


Statement = There | QuantifiedStatement | ComparedCounts


class Conjunction(NamedTuple):
    """Two statements and their connective."""

    connective: str
    first: Statement
    second: Statement


Meaning = Statement | Conjunction


LAST: Mapping[str, str] = {
    **dict.fromkeys(CONNECTIVES, "logical"),
    "compare": "comparative-quantification",
    "quantify_of": "number-bound",
}
PICKED: Mapping[str, str] = {"select": "selection", "select_near": "selection", "only": "unique"}


@lru_cache(maxsize=CACHED)
def kind_of(program: Program) -> str:
    """Return the caption type of a program."""
    last = program[-1]
    if last.function in LAST:
        return LAST[last.function]
    filters = sum(step.function.startswith("filter_") for step in program)
    if last.function == "exist":
        return "single-attribute" if filters == 1 and program[last.inputs[0]].function != "both" else "existential"
    restrictor = program[last.inputs[0]].function
    if restrictor in PICKED:
        return PICKED[restrictor]
    relation = next((step for step in program if step.function.startswith(("relate", "near"))), None)
    if relation is None or last.values[0] not in ("a", "the"):
        return "quantification"
    single = relation.values[0] in PLANAR and filters == 2
    return "relational-single-attribute" if single and _count_filters(program, last.inputs[0]) == 1 else "relational"


def _count_filters(program: Program, number: int) -> int:
    """Return the number of filters in a row that end with a step."""
    count = 0
    while program[number].function.startswith("filter_"):
        count, number = count + 1, program[number].inputs[0]
    return count


def head_of(meaning: Meaning) -> str:
    """Return a meaning's head: its connective, comparison, relation, selector or quantifier, or `there`."""
    match meaning:
        case There():
            return "there"
        case Conjunction():
            return meaning.connective
        case ComparedCounts():
            return meaning.comparison
    if isinstance(meaning.restrictor, SelectedEntity):
        return meaning.restrictor.selector
    if not isinstance(meaning.body, Relation) or meaning.quantifier not in ("a", "the"):
        return meaning.quantifier
    return f"{NOT if meaning.body.negated else ''}{meaning.body.relation}"


def statements(meaning: Meaning) -> tuple[Statement, ...]:
    """Return the statements of a meaning: two if it joins them, otherwise one."""
    return (meaning.first, meaning.second) if isinstance(meaning, Conjunction) else (meaning,)


def nouns_of(meaning: Meaning) -> tuple[Noun, ...]:
    """Return every noun of a meaning, including bodies, in the order of its parts."""
    found: list[Noun] = []
    for part in (part for statement in statements(meaning) for part in statement):
        if isinstance(part, Noun):
            found.append(part)
        elif isinstance(part, SelectedEntity | Relation):
            found += [one for one in part if isinstance(one, Noun)]
    return tuple(found)


@lru_cache(maxsize=CACHED)
def program_of(meaning: Meaning) -> Program:
    """Return the program of a meaning; each noun starts from the set of all entities."""
    writer = _MeaningWriter()
    if isinstance(meaning, Conjunction):
        first, second = writer.statement(meaning.first), writer.statement(meaning.second)
        writer.add(meaning.connective, first, second)
    else:
        writer.statement(meaning)
    return tuple(writer.steps)


class _MeaningWriter:
    """Writes steps; each method returns the number of the last step that it wrote."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def add(self, function: str, *inputs: int, values: tuple[str, ...] = ()) -> int:
        self.steps.append(Step(function, inputs, values))
        return len(self.steps) - 1

    def statement(self, statement: Statement) -> int:
        match statement:
            case There():
                members = self.noun(statement.noun)
                if statement.body is not None:
                    members = self.add("both", members, self.noun(statement.body))
                return self.add("exist", members)
            case ComparedCounts():
                one, other, body = (self.noun(noun) for noun in statement[1:])
                pair = self.add("both", one, body), self.add("both", other, body)
                return self.add("compare", *pair, values=(statement.comparison,))
        restrictor = self.restrictor(statement.restrictor)
        both = self.add("both", restrictor, self.body(statement.body))
        if statement.bound is None:
            return self.add("quantify", restrictor, both, values=(statement.quantifier,))
        return self.add("quantify_of", restrictor, both, values=(statement.quantifier, str(statement.bound)))

    def noun(self, noun: Noun) -> int:
        found = self.add("scene")
        for function, value in (("filter_shape", noun.shape), ("filter_color", noun.color)):
            if value is not None:
                found = self.add(function, found, values=(value,))
        return found

    def the(self, noun: Noun) -> int:
        return self.add("only", self.noun(noun))

    def restrictor(self, restrictor: Noun | SelectedEntity) -> int:
        if isinstance(restrictor, Noun):
            return self.noun(restrictor)
        members = self.noun(restrictor.noun)
        if restrictor.selector == ONLY:
            return self.add("only", members)
        if restrictor.near is not None:
            return self.add("select_near", members, self.the(restrictor.near), values=(restrictor.selector,))
        return self.add("select", members, values=(restrictor.selector,))

    def body(self, body: Body) -> int:
        if isinstance(body, Noun):
            return self.noun(body)
        reference = self.the(body.reference) if body.definite else self.noun(body.reference)
        end = "_not" if body.negated else ""
        if body.comparison is not None:
            return self.add(f"near{end}", reference, self.the(body.comparison), values=(body.relation,))
        return self.add(f"relate{end}", reference, values=(body.relation,))


@lru_cache(maxsize=CACHED)
def named_together(program: Program) -> tuple[tuple[str, str], ...]:
    """Return every shape and colour that a program requires of the same entity, in the order of its steps."""
    attributes: list[tuple[str, str]] = []  # shape and colour of each step's result; empty for any
    found: dict[tuple[str, str], None] = {}
    for function, inputs, values in program:
        shape, color = attributes[inputs[0]] if function in _KEEPING else ("", "")
        if function == "both":
            other_shape, other_color = attributes[inputs[1]]
            shape, color = shape or other_shape, color or other_color
        elif function == "filter_shape":
            shape = values[0]
        elif function == "filter_color":
            color = values[0]
        attributes.append((shape, color))
        if shape and color:
            found[shape, color] = None
    return tuple(found)


_KEEPING = frozenset({"filter_shape", "filter_color", "both", "only", "select", "select_near"})


def is_proper(meaning: Meaning) -> bool:
    """Return whether a sentence can express a meaning, for example whether a nearness has both of its references."""
    return all(_is_proper(statement) for statement in statements(meaning))


def _is_proper(statement: Statement) -> bool:
    if not isinstance(statement, QuantifiedStatement):
        return statement.body is None or statement.body.named > 0
    restrictor, body = statement.restrictor, statement.body
    if isinstance(restrictor, SelectedEntity) and not _is_proper_pick(restrictor, statement.quantifier):
        return False
    if isinstance(body, Noun):
        return body.named > 0
    return (body.relation in PROXIMITIES) == (body.comparison is not None)


def _is_proper_pick(picked: SelectedEntity, quantifier: str) -> bool:
    return quantifier == "the" and (picked.selector in NEAR) == (picked.near is not None)


def makes_sense(meaning: Meaning) -> bool:
    """Return whether a meaning's truth depends on the world; "more squares than squares" does not."""
    return all(_makes_sense(statement) for statement in statements(meaning))


def _makes_sense(statement: Statement) -> bool:
    if isinstance(statement, ComparedCounts):
        return statement.restrictor != statement.other
    if not isinstance(statement, QuantifiedStatement) or not isinstance(statement.body, Relation):
        return True
    body = statement.body
    subject = statement.restrictor.noun if isinstance(statement.restrictor, SelectedEntity) else statement.restrictor
    alone = [body.reference, *([] if body.comparison is None else [body.comparison])] if body.definite else []
    alone += [subject] if statement.quantifier == "the" and isinstance(statement.restrictor, Noun) else []
    if len(set(alone)) < len(alone):
        return False
    attribute = _ABOUT.get(body.relation, "")
    one, other = (getattr(noun, attribute, None) for noun in (subject, body.reference))
    if one is None or other is None:
        return True
    return body.relation not in HAVING and one == other


_ABOUT: Mapping[str, str] = {  # the attribute that a relation compares, or that both entities must share
    **dict.fromkeys(("same shape", "different shape", "bigger", "smaller"), "shape"),
    **dict.fromkeys(("same color", "different color", "darker", "lighter"), "color"),
}
