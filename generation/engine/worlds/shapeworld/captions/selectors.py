"""Captions with selectors: the leftmost square is red; the only square is red."""

from collections.abc import Iterator, Mapping, Sequence

from generation.engine.seeding import Stream
from generation.engine.worlds.shapeworld.caption_parameters import CaptionParameters
from generation.engine.worlds.shapeworld.captions.nouns import NamedMicroworld, form_of
from generation.engine.worlds.shapeworld.captions.relational import reference
from generation.engine.worlds.shapeworld.captions.statement_templates import frame
from generation.engine.worlds.shapeworld.captions.weighted_choice import shuffle
from generation.engine.worlds.shapeworld.logical_form import Noun, QuantifiedStatement, SelectedEntity, Statement
from generation.engine.worlds.shapeworld.phrases import NEAR, NEAR_OF_TWO, OF_TWO, ONLY

SCOPES = {"thing": ("shape", "color", "both"), "shape": ("color",), "color": ("shape",)}  # scopes and bodies


class Selection:
    """Makes captions of an entity that a selector picks; not all of its scope fit the body. Heads are selectors."""

    def __init__(self, parameters: CaptionParameters) -> None:
        self.heads: Mapping[str, float] = dict.fromkeys(parameters.selectors, 1.0)

    def true(self, seen: NamedMicroworld, random: Stream, head: str) -> QuantifiedStatement | None:
        """Return a true caption, or None if the selector clearly picks no entity."""
        for scope, form, mask in _scopes(seen, random, tuple(SCOPES)):
            found = _pick(seen, random, head, scope, mask, None)
            if found is None:
                continue
            picked, number = found
            for said in shuffle(SCOPES[form], random):
                body = seen.called(number, said)
                if mask & ~seen.meant_by(body):
                    return QuantifiedStatement("the", picked, body)
        return None

    def like(
        self, seen: NamedMicroworld, random: Stream, model: Statement, *, exactly: bool
    ) -> QuantifiedStatement | None:
        """Return a true caption with a model's form, or with exactly its frame; None if there is none."""
        assert isinstance(model, QuantifiedStatement)
        assert isinstance(model.restrictor, SelectedEntity)
        assert isinstance(model.body, Noun)
        wanted, selector, near = frame(model) if exactly else None, model.restrictor.selector, model.restrictor.near
        near_form = None if near is None else form_of(near)
        for scope, _, mask in _scopes(seen, random, (form_of(model.restrictor.noun),)):
            found = _pick(seen, random, selector, scope, mask, near_form)
            if found is None:
                continue
            picked, number = found
            said = QuantifiedStatement("the", picked, seen.called(number, form_of(model.body)))
            if mask & ~seen.meant_by(seen.called(number, form_of(model.body))) and wanted in (None, frame(said)):
                return said
        return None


class Unique:
    """Makes captions of the only entity of a shape or of a colour."""

    def __init__(self) -> None:
        self.heads: Mapping[str, float] = {ONLY: 1.0}

    def true(self, seen: NamedMicroworld, random: Stream, head: str) -> QuantifiedStatement | None:
        """Return a true caption, or None if no shape or colour occurs only once."""
        return self._of(seen, random, ("shape", "color"))

    def like(
        self, seen: NamedMicroworld, random: Stream, model: Statement, *, exactly: bool
    ) -> QuantifiedStatement | None:
        """Return a true caption with a model's form, which is also its frame; None if there is none."""
        assert isinstance(model, QuantifiedStatement)
        assert isinstance(model.restrictor, SelectedEntity)
        return self._of(seen, random, (form_of(model.restrictor.noun),))

    @staticmethod
    def _of(seen: NamedMicroworld, random: Stream, forms: Sequence[str]) -> QuantifiedStatement | None:
        for scope, form, mask in _scopes(seen, random, forms):
            if not mask & (mask - 1):
                body = seen.called(mask.bit_length() - 1, SCOPES[form][0])
                return QuantifiedStatement("the", SelectedEntity(ONLY, scope), body)
        return None


def _pick(
    seen: NamedMicroworld, random: Stream, selector: str, scope: Noun, mask: int, near_form: str | None
) -> tuple[SelectedEntity, int] | None:
    """Return a selection from a scope and the entity that it certainly picks, or None if there is none."""
    near = None
    if selector in NEAR:
        found = reference(seen, random, near_form)
        if found is None:
            return None
        near, other = found
        certain, _ = seen.world.select_near((mask, mask), (1 << other, 1 << other), selector)
    else:
        certain, _ = seen.world.select((mask, mask), selector)
    return (SelectedEntity(selector, scope, near), certain.bit_length() - 1) if certain else None


def _scopes(seen: NamedMicroworld, random: Stream, forms: Sequence[str]) -> Iterator[tuple[Noun, str, int]]:
    """Yield each noun of the forms, its form and its mask, in random order; forms are equally likely to be first."""
    for form in shuffle(forms, random):
        for noun, mask in shuffle(tuple(seen.of_form(form).items()), random):
            yield noun, form, mask


def is_of_two(selector: str) -> bool:
    """Return whether a selector picks one of two."""
    return selector in OF_TWO or selector in NEAR_OF_TWO
