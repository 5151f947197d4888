"""There is a red square."""

from collections.abc import Mapping

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_knobs import CaptionKnobs
from generation.engine.worlds.shapeworld.captions.chance import Weighted
from generation.engine.worlds.shapeworld.captions.seen import Seen
from generation.engine.worlds.shapeworld.meaning import Noun, There

ATTRIBUTES = ("shape", "color")


class Existential:
    """Says of one of the entities, each as likely, that there is such a one."""

    def __init__(self, knobs: CaptionKnobs) -> None:
        self.heads: Mapping[str, float] = {"there": 1.0}
        self.forms = Weighted(knobs.existential)

    def true(self, seen: Seen, random: Stream, head: str) -> There:
        """Return a true caption."""
        number = random.below(seen.count)
        if self.forms.draw(random) == "there":
            return There(seen.called(number, "both"))
        restrictor, body = random.choice((("shape", "color"), ("color", "shape"), ("thing", "both")))
        return There(seen.called(number, restrictor), seen.called(number, body))


class SingleAttribute:
    """Says that there is an entity of a shape, or one of a colour."""

    def __init__(self) -> None:
        self.heads: Mapping[str, float] = {"there": 1.0}

    def true(self, seen: Seen, random: Stream, head: str) -> There:
        """Return a true caption."""
        noun: Noun = seen.called(random.below(seen.count), random.choice(ATTRIBUTES))
        return There(noun)
