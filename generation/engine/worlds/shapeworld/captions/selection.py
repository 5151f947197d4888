"""The leftmost square is red; the only square is red."""

from collections.abc import Iterator, Mapping, Sequence

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_knobs import CaptionKnobs
from generation.engine.worlds.shapeworld.captions.chance import shuffled
from generation.engine.worlds.shapeworld.captions.frames import frame
from generation.engine.worlds.shapeworld.captions.relational import reference
from generation.engine.worlds.shapeworld.captions.seen import Seen, form_of
from generation.engine.worlds.shapeworld.meaning import Noun, Picked, Quantified, Statement
from generation.engine.worlds.shapeworld.phrases import NEAR, NEAR_OF_TWO, OF_TWO, ONLY

SCOPES = {"thing": ("shape", "color", "both"), "shape": ("color",), "color": ("shape",)}  # and what is said of it


class Selection:
    """Says something of the one that a selector picks, which not all it was picked from are. Heads are selectors."""

    def __init__(self, knobs: CaptionKnobs) -> None:
        self.heads: Mapping[str, float] = dict.fromkeys(knobs.selectors, 1.0)

    def true(self, seen: Seen, random: Stream, head: str) -> Quantified | None:
        """Return a true caption; None where the selector clearly picks nobody."""
        for scope, form, mask in _scopes(seen, random, tuple(SCOPES)):
            found = _picked(seen, random, head, scope, mask, None)
            if found is None:
                continue
            picked, number = found
            for said in shuffled(SCOPES[form], random):
                body = seen.called(number, said)
                if mask & ~seen.meant_by(body):
                    return Quantified("the", picked, body)
        return None

    def like(self, seen: Seen, random: Stream, model: Statement, *, exactly: bool) -> Quantified | None:
        """Return a true caption with a model's form, or exactly its frame; None where nobody like that is picked."""
        assert isinstance(model, Quantified)
        assert isinstance(model.restrictor, Picked)
        assert isinstance(model.body, Noun)
        wanted, selector, near = frame(model) if exactly else None, model.restrictor.selector, model.restrictor.near
        near_form = None if near is None else form_of(near)
        for scope, _, mask in _scopes(seen, random, (form_of(model.restrictor.noun),)):
            found = _picked(seen, random, selector, scope, mask, near_form)
            if found is None:
                continue
            picked, number = found
            said = Quantified("the", picked, seen.called(number, form_of(model.body)))
            if mask & ~seen.meant_by(seen.called(number, form_of(model.body))) and wanted in (None, frame(said)):
                return said
        return None


class Unique:
    """Says something of the only one of its shape, or of its colour."""

    def __init__(self) -> None:
        self.heads: Mapping[str, float] = {ONLY: 1.0}

    def true(self, seen: Seen, random: Stream, head: str) -> Quantified | None:
        """Return a true caption; None where each has its like."""
        return self._of(seen, random, ("shape", "color"))

    def like(self, seen: Seen, random: Stream, model: Statement, *, exactly: bool) -> Quantified | None:
        """Return a true caption with a model's form, or exactly its frame; None where each has its like."""
        assert isinstance(model, Quantified)
        assert isinstance(model.restrictor, Picked)
        return self._of(seen, random, (form_of(model.restrictor.noun),))

    @staticmethod
    def _of(seen: Seen, random: Stream, forms: Sequence[str]) -> Quantified | None:
        for scope, form, mask in _scopes(seen, random, forms):
            if not mask & (mask - 1):
                body = seen.called(mask.bit_length() - 1, SCOPES[form][0])
                return Quantified("the", Picked(ONLY, scope), body)
        return None


def _picked(
    seen: Seen, random: Stream, selector: str, scope: Noun, mask: int, near_form: str | None
) -> tuple[Picked, int] | None:
    """Return a selection from a scope and whom it picks; None where it certainly picks nobody."""
    near = None
    if selector in NEAR:
        found = reference(seen, random, near_form)
        if found is None:
            return None
        near, other = found
        certain, _ = seen.world.select_near((mask, mask), (1 << other, 1 << other), selector)
    else:
        certain, _ = seen.world.select((mask, mask), selector)
    return (Picked(selector, scope, near), certain.bit_length() - 1) if certain else None


def _scopes(seen: Seen, random: Stream, forms: Sequence[str]) -> Iterator[tuple[Noun, str, int]]:
    """Yield each noun from which something may be picked, its form, and whom it is about; forms are as likely."""
    for form in shuffled(forms, random):
        for noun, mask in shuffled(tuple(seen.of_form(form).items()), random):
            yield noun, form, mask


def is_of_two(selector: str) -> bool:
    """Return whether a selector picks one of two."""
    return selector in OF_TWO or selector in NEAR_OF_TWO
