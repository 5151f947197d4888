"""The leftmost square is red; the only square is red."""

from collections.abc import Iterator, Mapping

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_knobs import CaptionKnobs
from generation.engine.worlds.shapeworld.captions.chance import shuffled
from generation.engine.worlds.shapeworld.captions.relational import reference
from generation.engine.worlds.shapeworld.captions.seen import Seen
from generation.engine.worlds.shapeworld.meaning import Noun, Picked, Quantified
from generation.engine.worlds.shapeworld.phrases import NEAR, NEAR_OF_TWO, OF_TWO, ONLY

SCOPES = {"thing": ("shape", "color", "both"), "shape": ("color",), "color": ("shape",)}  # and what is said of it


class Selection:
    """Says something of the one that a selector picks, which not all it was picked from are. Heads are selectors."""

    def __init__(self, knobs: CaptionKnobs) -> None:
        self.heads: Mapping[str, float] = dict.fromkeys(knobs.selectors, 1.0)

    def true(self, seen: Seen, random: Stream, head: str) -> Quantified | None:
        """Return a true caption; None where the selector clearly picks nobody."""
        for scope, form, mask in _scopes(seen, random):
            found = self._picked(seen, random, head, scope, mask)
            if found is None:
                continue
            picked, number = found
            for said in shuffled(SCOPES[form], random):
                body = seen.called(number, said)
                if mask & ~seen.meant_by(body):
                    return Quantified("the", picked, body)
        return None

    def _picked(self, seen: Seen, random: Stream, selector: str, scope: Noun, mask: int) -> tuple[Picked, int] | None:
        """Return a selection from a scope and whom it picks; None where it certainly picks nobody."""
        near = None
        if selector in NEAR:
            found = reference(seen, random)
            if found is None:
                return None
            near, other = found
            certain, _ = seen.world.select_near((mask, mask), (1 << other, 1 << other), selector)
        else:
            certain, _ = seen.world.select((mask, mask), selector)
        return (Picked(selector, scope, near), certain.bit_length() - 1) if certain else None


class Unique:
    """Says something of the only one of its shape, or of its colour."""

    def __init__(self) -> None:
        self.heads: Mapping[str, float] = {ONLY: 1.0}

    def true(self, seen: Seen, random: Stream, head: str) -> Quantified | None:
        """Return a true caption; None where each has its like."""
        for scope, form, mask in _scopes(seen, random):
            if form != "thing" and not mask & (mask - 1):
                body = seen.called(mask.bit_length() - 1, SCOPES[form][0])
                return Quantified("the", Picked(ONLY, scope), body)
        return None


def _scopes(seen: Seen, random: Stream) -> Iterator[tuple[Noun, str, int]]:
    """Yield each noun from which something may be picked, its form, and whom it is about; forms are as likely."""
    for form in shuffled(tuple(SCOPES), random):
        for noun, mask in shuffled(tuple(seen.of_form(form).items()), random):
            yield noun, form, mask


def is_of_two(selector: str) -> bool:
    """Return whether a selector picks one of two."""
    return selector in OF_TWO or selector in NEAR_OF_TWO
