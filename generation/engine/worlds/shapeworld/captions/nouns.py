"""The nouns of a microworld, and the entities that they fit."""

from generation.engine.worlds.shapeworld.caption_parameters import Thresholds
from generation.engine.worlds.shapeworld.logical_form import Noun
from generation.engine.worlds.shapeworld.microworld import Microworld
from generation.engine.worlds.shapeworld.scene import FlatScene

THING = Noun()
Meant = dict[Noun, int]  # the mask of the entities that each noun fits
FORMS = ("thing", "shape", "color", "both")


class NamedMicroworld:
    """A microworld with the nouns that fit its entities.

    It also caches results of captioners: `counted` and `fitting` for quantifiers, `compared` for comparisons.

    Parameters
    ----------
    scene : Scene
    thresholds : Thresholds
    """

    __slots__ = ("both", "color", "compared", "count", "counted", "everything", "fitting", "shape", "thing", "world")

    def __init__(self, scene: FlatScene, thresholds: Thresholds) -> None:
        self.world = Microworld(scene, thresholds)
        self.everything = self.world.everything
        self.count = len(scene.entities)
        self.counted: dict[str, dict[tuple[int, int], list[tuple[Noun, int, Noun]]]] = {}
        self.fitting: dict[tuple[str | int | None, ...], list[tuple[Noun, int, Noun]]] = {}
        self.compared: dict[tuple[int, int], list[tuple[Noun, Noun, Noun]]] = {}
        self.thing: Meant = {THING: self.everything}
        self.shape: Meant = {}
        self.color: Meant = {}
        self.both: Meant = {}
        for number, entity in enumerate(scene.entities):
            bit = 1 << number
            for meant, noun in (
                (self.shape, Noun(entity.shape)),
                (self.color, Noun(None, entity.color)),
                (self.both, Noun(entity.shape, entity.color)),
            ):
                meant[noun] = meant.get(noun, 0) | bit

    def of_form(self, form: str) -> Meant:
        """Return the nouns of a form, with the masks of their entities."""
        meant: Meant = getattr(self, form)
        return meant

    def called(self, number: int, form: str) -> Noun:
        """Return the noun of a form that fits an entity."""
        entity = self.world.entities[number]
        if form == "both":
            return Noun(entity.shape, entity.color)
        if form == "shape":
            return Noun(entity.shape)
        return Noun(None, entity.color) if form == "color" else THING

    def meant_by(self, noun: Noun) -> int:
        """Return the mask of the entities that a noun fits; 0 if there are none."""
        return self.of_form(form_of(noun)).get(noun, 0)

    def unique(self, form: str) -> int:
        """Return the mask of the entities whose noun of a form fits no other entity."""
        found = 0
        for mask in self.of_form(form).values():
            if not mask & (mask - 1):
                found |= mask
        return found

    def values(self, attribute: str) -> tuple[str, ...]:
        """Return the shapes or colours of the scene, in the order of entities."""
        return tuple(str(getattr(noun, attribute)) for noun in self.of_form(attribute))


def form_of(noun: Noun) -> str:
    """Return the form of a noun, that is, which attributes it names."""
    return FORMS[(noun.shape is not None) + 2 * (noun.color is not None)]
