"""The frame of a statement, which is the statement without its words for shapes and colours."""

from generation.engine.worlds.shapeworld.logical_form import (
    ComparedCounts,
    Noun,
    Relation,
    SelectedEntity,
    Statement,
    There,
)


def frame(statement: Statement) -> Statement:
    """Return a statement with numbers for shapes and colours; equal ones get the same number.

    Two statements have the same frame if they differ only in the names of shapes and colours.
    """
    numbers = _Numbers()
    match statement:
        case There():
            return There(numbers.noun(statement.noun), None if statement.body is None else numbers.noun(statement.body))
        case ComparedCounts():
            return ComparedCounts(statement.comparison, *map(numbers.noun, statement[1:]))
    return statement._replace(
        restrictor=numbers.restrictor(statement.restrictor),
        body=numbers.noun(statement.body) if isinstance(statement.body, Noun) else numbers.related(statement.body),
    )


class _Numbers:
    """Numbers shapes and colours in the order in which they appear."""

    __slots__ = ("colors", "shapes")

    def __init__(self) -> None:
        self.shapes: dict[str | None, str | None] = {None: None}
        self.colors: dict[str | None, str | None] = {None: None}

    def noun(self, noun: Noun) -> Noun:
        shapes, colors = self.shapes, self.colors
        return Noun(
            shapes.setdefault(noun.shape, str(len(shapes))),
            colors.setdefault(noun.color, str(len(colors))),
        )

    def restrictor(self, restrictor: Noun | SelectedEntity) -> Noun | SelectedEntity:
        if isinstance(restrictor, Noun):
            return self.noun(restrictor)
        scope = self.noun(restrictor.noun)
        return SelectedEntity(
            restrictor.selector, scope, None if restrictor.near is None else self.noun(restrictor.near)
        )

    def related(self, body: Relation) -> Relation:
        reference = self.noun(body.reference)
        comparison = None if body.comparison is None else self.noun(body.comparison)
        return body._replace(reference=reference, comparison=comparison)
