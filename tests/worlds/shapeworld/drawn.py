"""Random microworlds and meanings for tests, with many ties and unclear cases."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from generation.engine.worlds.shapeworld.logical_form import (
    ComparedCounts,
    Conjunction,
    Meaning,
    Noun,
    QuantifiedStatement,
    Relation,
    SelectedEntity,
    Statement,
    There,
)
from generation.engine.worlds.shapeworld.phrases import (
    COMPARISONS,
    CONNECTIVES,
    MOST_BOUND,
    NEAR,
    ONLY,
    PROXIMITIES,
    QUANTIFIERS,
    RELATIONS,
    SELECTORS,
)
from generation.engine.worlds.shapeworld.scene import Entity, FlatScene
from generation.engine.worlds.shapeworld.vocabulary import ShapeVocabulary

VOCABULARY = ShapeVocabulary()
FEW_SHAPES, FEW_COLORS = ("square", "cross", "ellipse"), ("red", "green")
PLACES = (0.1, 0.2, 0.25, 0.3, 0.45, 0.7, 0.9)
SIZES = (0.1, 0.12, 0.15, 0.2)
SHADES = (-0.4, -0.2, 0.0, 0.1, 0.4)

PLAIN = tuple(name for name, quantifier in QUANTIFIERS.items() if quantifier.of)


@st.composite
def scenes(draw: st.DrawFn, most: int = 6) -> FlatScene:
    """Draw a microworld with few shapes, colours and places, so that many entities are equal and many cases unclear."""
    count = draw(st.integers(1, most))
    entities = tuple(
        Entity(
            draw(st.sampled_from(FEW_SHAPES)),
            draw(st.sampled_from(FEW_COLORS)),
            draw(st.sampled_from(SHADES)),
            draw(st.sampled_from(PLACES)),
            draw(st.sampled_from(PLACES)),
            draw(st.sampled_from(SIZES)),
            draw(st.sampled_from(SIZES)),
            0.0,
        )
        for _ in range(count)
    )
    covers = tuple(draw(st.integers(0, (1 << number) - 1)) for number in range(count))
    grazes = tuple(draw(st.integers(0, (1 << number) - 1)) & ~covers[number] for number in range(count))
    return FlatScene(entities, covers, grazes, 64, 64)


def nouns_of(statement: Statement) -> list[Noun]:
    """Return all nouns of a statement in the order of its words, including nouns in bodies."""
    found: list[Noun] = []
    for part in statement:
        if isinstance(part, Noun):
            found.append(part)
        elif isinstance(part, SelectedEntity | Relation):
            found += [one for one in part if isinstance(one, Noun)]
    return found


def combinations_of(statement: Statement) -> set[tuple[str, str]]:
    """Return each pair of shape and colour that a statement gives one object: in a noun, or in a noun and its body."""
    heads = [
        part.noun if isinstance(part, SelectedEntity) else part
        for part in statement
        if isinstance(part, Noun | SelectedEntity)
    ]
    body = heads.pop() if isinstance(statement.body, Noun) else Noun()
    merged = [Noun(head.shape or body.shape, head.color or body.color) for head in heads]
    return {(one.shape, one.color) for one in [*nouns_of(statement), *merged] if one.shape and one.color}


def nouns(*, least: int = 0, few: bool = False) -> SearchStrategy[Noun]:
    """Draw a noun with at least this number of attributes."""
    shapes = FEW_SHAPES if few else VOCABULARY.values("shape")
    colors = FEW_COLORS if few else VOCABULARY.values("color")
    drawn = st.builds(Noun, st.sampled_from((None, *shapes)), st.sampled_from((None, *colors)))
    return drawn.filter(lambda noun: noun.named >= least)


def _attributes(*, few: bool) -> SearchStrategy[Noun]:
    return nouns(least=1, few=few)


def _relations(*, few: bool) -> SearchStrategy[Relation]:
    noun, yes_no = nouns(few=few), st.booleans()
    plain = st.builds(Relation, st.sampled_from(tuple(RELATIONS)), noun, yes_no, yes_no, st.none())
    return plain | st.builds(Relation, st.sampled_from(tuple(PROXIMITIES)), noun, yes_no, yes_no, noun)


def statements(*, few: bool = False) -> SearchStrategy[Statement]:
    """Draw a statement."""
    noun, attribute = nouns(few=few), _attributes(few=few)
    body = attribute | _relations(few=few)
    picked = st.builds(SelectedEntity, st.sampled_from((*SELECTORS, ONLY)), noun, st.none()) | st.builds(
        SelectedEntity, st.sampled_from(tuple(NEAR)), noun, noun
    )
    return st.one_of(
        st.builds(There, noun, st.none() | attribute),
        st.builds(QuantifiedStatement, st.sampled_from(tuple(QUANTIFIERS)), noun, body, st.none()),
        st.builds(QuantifiedStatement, st.just("the"), picked, body, st.none()),
        st.builds(QuantifiedStatement, st.sampled_from(PLAIN), noun, body, st.integers(2, MOST_BOUND)),
        st.builds(ComparedCounts, st.sampled_from(tuple(COMPARISONS)), noun, noun, attribute),
    )


def meanings(*, few: bool = False) -> SearchStrategy[Meaning]:
    """Draw a statement, or two statements that are joined."""
    one = statements(few=few)
    return one | st.builds(Conjunction, st.sampled_from(CONNECTIVES), one, one)
