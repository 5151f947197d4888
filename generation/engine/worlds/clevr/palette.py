"""What objects of a scene may be, under a spec's rules: chosen one attribute after the other.

An attribute's values are as likely as each other among those that some allowed object has, given what was chosen
before: first size, then shape, material and colour. So cubes are as frequent as spheres, though fewer colours be
allowed of them; without rules all objects are as likely.
"""

from functools import cache
from itertools import product

from generation.engine.errors import BadSpec
from generation.engine.rules import RuleSet, RuleValues, read_rules
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, Vocabulary

ORDER = ("size", "shape", "material", "color")


class Palette:
    """The objects that rules allow.

    Parameters
    ----------
    words : Vocabulary
    wanted : Wanted
        Rules over the attributes of an object.
    """

    def __init__(self, words: Vocabulary, wanted: RuleSet) -> None:
        every = product(*(words.values(attribute) for attribute in ORDER))
        self.allowed = [one for one in every if wanted.allows(dict(zip(ORDER, one, strict=True)))]
        self.given = cache(self._given)

    def sizes(self) -> tuple[str, ...]:
        """Return the sizes that objects may have."""
        return self.given()

    def shapes(self, size: str) -> tuple[str, ...]:
        """Return the shapes that objects of a size may have."""
        return self.given(size)

    def materials(self, size: str, shape: str) -> tuple[str, ...]:
        """Return the materials that objects of a size and a shape may have."""
        return self.given(size, shape)

    def colors(self, size: str, shape: str, material: str) -> tuple[str, ...]:
        """Return the colours that objects of a size, a shape and a material may have."""
        return self.given(size, shape, material)

    def _given(self, *chosen: str) -> tuple[str, ...]:
        fitting = [one for one in self.allowed if one[: len(chosen)] == chosen]
        return tuple(dict.fromkeys(one[len(chosen)] for one in fitting))


def palette(spec: ClevrSpec) -> Palette:
    """Return what objects may be under a spec's rules, worked out once."""
    return spec.once("palette", lambda: Palette(spec.vocabulary, object_rules(spec)))


def object_rules(spec: ClevrSpec, *, where: str = "") -> RuleSet:
    """Return a spec's rules over objects; raise `BadSpec` naming the rule with a name or value that isn't known."""
    known = {attribute: RuleValues(spec.vocabulary.values(attribute)) for attribute in ATTRIBUTES}
    return RuleSet(
        only=read_rules(spec.scene.only, known=known, where=f"{where}scene.only"),
        never=read_rules(spec.scene.never, known=known, where=f"{where}scene.never"),
    )


def check_objects(spec: ClevrSpec, *, where: str = "") -> None:
    """Raise `BadSpec` for rules over objects that aren't well-formed, or leave no object."""
    wanted = object_rules(spec, where=where)
    if not Palette(spec.vocabulary, wanted).allowed:
        raise BadSpec(
            "Expected rules that leave some object, got rules that no object of this vocabulary fits.",
            where=f"{where}scene.{'only' if wanted.only else 'never'}",
        )
