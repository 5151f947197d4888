"""The objects that a spec's rules allow in scenes, chosen one attribute after the other.

Attributes are chosen in the order size, shape, material, colour. Each value that some allowed object has, given the
attributes chosen before, is equally likely. So cubes are as frequent as spheres, even if rules allow fewer colours for
cubes. Without rules all objects are equally likely.
"""

from functools import cache
from itertools import product

from generation.engine.errors import BadSpec
from generation.engine.only_never_rules import RuleSet, RuleValues, read_rules
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, ClevrVocabulary

ORDER = ("size", "shape", "material", "color")


class Palette:
    """The objects that rules allow.

    Parameters
    ----------
    words : Vocabulary
    wanted : RuleSet
        Rules over the attributes of an object.
    """

    def __init__(self, words: ClevrVocabulary, wanted: RuleSet) -> None:
        every = product(*(words.values(attribute) for attribute in ORDER))
        self.allowed = [one for one in every if wanted.allows(dict(zip(ORDER, one, strict=True)))]
        self.given = cache(self._given)

    def sizes(self) -> tuple[str, ...]:
        """Return the sizes that objects may have."""
        return self.given()

    def shapes(self, size: str) -> tuple[str, ...]:
        """Return the shapes that objects of this size may have."""
        return self.given(size)

    def materials(self, size: str, shape: str) -> tuple[str, ...]:
        """Return the materials that objects of this size and shape may have."""
        return self.given(size, shape)

    def colors(self, size: str, shape: str, material: str) -> tuple[str, ...]:
        """Return the colours that objects of this size, shape and material may have."""
        return self.given(size, shape, material)

    def _given(self, *chosen: str) -> tuple[str, ...]:
        fitting = [one for one in self.allowed if one[: len(chosen)] == chosen]
        return tuple(dict.fromkeys(one[len(chosen)] for one in fitting))


def palette(spec: ClevrSpec) -> Palette:
    """Return the objects that a spec's rules allow, computed once for each spec."""
    return spec.once("palette", lambda: Palette(spec.vocabulary, object_rules(spec)))


def object_rules(spec: ClevrSpec, *, where: str = "") -> RuleSet:
    """Return a spec's rules over objects; raise `BadSpec` naming the rule with an unknown attribute or value."""
    known = {attribute: RuleValues(spec.vocabulary.values(attribute)) for attribute in ATTRIBUTES}
    return RuleSet(
        only=read_rules(spec.scene.only, known=known, where=f"{where}scene.only"),
        never=read_rules(spec.scene.never, known=known, where=f"{where}scene.never"),
    )


def check_objects(spec: ClevrSpec, *, where: str = "") -> None:
    """Raise `BadSpec` if rules over objects are malformed, or leave no object."""
    wanted = object_rules(spec, where=where)
    if not Palette(spec.vocabulary, wanted).allowed:
        raise BadSpec(
            "Expected rules that leave some object, got rules that no object of this vocabulary fits.",
            where=f"{where}scene.{'only' if wanted.only else 'never'}",
        )
