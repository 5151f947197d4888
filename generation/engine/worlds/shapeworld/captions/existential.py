"""Existential captions: there is a red square."""

from collections.abc import Mapping

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_parameters import CaptionParameters
from generation.engine.worlds.shapeworld.captions.nouns import NamedMicroworld, form_of
from generation.engine.worlds.shapeworld.captions.weighted_choice import WeightedNames
from generation.engine.worlds.shapeworld.logical_form import Noun, Statement, There

ATTRIBUTES = ("shape", "color")


class Existential:
    """Makes captions that an entity like one of the scene's exists; each entity is equally likely."""

    def __init__(self, parameters: CaptionParameters) -> None:
        self.heads: Mapping[str, float] = {"there": 1.0}
        self.forms = WeightedNames(parameters.existential)

    def true(self, seen: NamedMicroworld, random: Stream, head: str) -> There:
        """Return a true caption."""
        number = random.below(seen.count)
        if self.forms.draw(random) == "there":
            return There(seen.called(number, "both"))
        restrictor, body = random.choice((("shape", "color"), ("color", "shape"), ("thing", "both")))
        return There(seen.called(number, restrictor), seen.called(number, body))

    def like(self, seen: NamedMicroworld, random: Stream, model: Statement, *, exactly: bool) -> There:
        """Return a true caption with a model's form, which is also its frame."""
        return _like(seen, random, model)


class SingleAttribute:
    """Makes captions that there is an entity of a shape, or one of a colour."""

    def __init__(self) -> None:
        self.heads: Mapping[str, float] = {"there": 1.0}

    def true(self, seen: NamedMicroworld, random: Stream, head: str) -> There:
        """Return a true caption."""
        noun: Noun = seen.called(random.below(seen.count), random.choice(ATTRIBUTES))
        return There(noun)

    def like(self, seen: NamedMicroworld, random: Stream, model: Statement, *, exactly: bool) -> There:
        """Return a true caption with a model's form, which is also its frame."""
        return _like(seen, random, model)


def _like(seen: NamedMicroworld, random: Stream, model: Statement) -> There:
    assert isinstance(model, There)
    number = random.below(seen.count)
    body = None if model.body is None else seen.called(number, form_of(model.body))
    return There(seen.called(number, form_of(model.noun)), body)
