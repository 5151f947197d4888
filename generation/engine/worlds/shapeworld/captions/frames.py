"""What is left of a statement without its words for shapes and colours: its frame."""

from generation.engine.worlds.shapeworld.meaning import ComparedCounts, Noun, Picked, Related, Statement, There


def frame(statement: Statement) -> Statement:
    """Return a statement with a number instead of each shape and colour, the same one where it says the same again.

    Two statements have one frame where nothing but what their shapes and colours are called tells them apart.
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
    """Numbers shapes and colours in the order in which they are said."""

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

    def restrictor(self, restrictor: Noun | Picked) -> Noun | Picked:
        if isinstance(restrictor, Noun):
            return self.noun(restrictor)
        scope = self.noun(restrictor.noun)
        return Picked(restrictor.selector, scope, None if restrictor.near is None else self.noun(restrictor.near))

    def related(self, body: Related) -> Related:
        reference = self.noun(body.reference)
        comparison = None if body.comparison is None else self.noun(body.comparison)
        return body._replace(reference=reference, comparison=comparison)
