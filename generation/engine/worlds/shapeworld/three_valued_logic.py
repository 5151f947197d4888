"""Three-valued truth, and sets whose members may be uncertain.

A truth is 1 (true), -1 (false) or 0 (unclear). A set is two bit masks: its certain members and its possible members,
which include the certain ones. A result is unclear if it depends on which possible members are in the set.
"""

from collections.abc import Callable
from fractions import Fraction

from generation.engine.worlds.shapeworld.phrases import ComparisonPhrase, Quantifier

Truth = int
TRUE, UNCLEAR, FALSE = 1, 0, -1
Set = tuple[int, int]  # certain members, possible members
NOBODY: Set = (0, 0)


def exist(members: Set) -> Truth:
    """Return whether a set has any member."""
    return TRUE if members[0] else UNCLEAR if members[1] else FALSE


def only(members: Set) -> Set:
    """Return the set if it has exactly one member, otherwise the empty set; unclear members may make this unclear."""
    certain, possible = members
    if certain & (certain - 1):
        return NOBODY
    if certain == possible or not possible:
        return NOBODY if not possible else members
    return (0, certain or possible)


def both(one: Set, other: Set) -> Set:
    """Return the intersection of two sets."""
    return (one[0] & other[0], one[1] & other[1])


def agreed(holds: Callable[[int, int], Truth], pairs: "list[tuple[int, int]]") -> Truth:
    """Return the truth for all pairs of numbers if it is the same, otherwise unclear."""
    found = {holds(one, other) for one, other in pairs}
    return found.pop() if len(found) == 1 else UNCLEAR


def numbers_of(restrictor: Set, both: Set) -> list[tuple[int, int]]:
    """Return every pair of sizes that a set and its part may have, for all choices of uncertain members."""
    (sure, maybe), (part, part_maybe) = restrictor, both
    least, part_least = sure.bit_count(), part.bit_count()
    if sure == maybe:
        return [(least, number) for number in range(part_least, part_maybe.bit_count() + 1)]
    unclear, in_part = maybe & ~sure, part_maybe & ~part
    inside, either, outside = (
        (in_part & sure).bit_count(),
        (in_part & unclear).bit_count(),
        (unclear & ~in_part).bit_count(),
    )
    return [
        (least + more + others, part_least + free + parted)
        for more in range(either + 1)
        for parted in range(more + 1)
        for others in range(outside + 1)
        for free in range(inside + 1)
    ]


def stands(comparator: str, difference: int, tolerance: float = 0.0) -> Truth:
    """Return whether a difference between an amount and a quantity satisfies a comparator."""
    sign = 0 if abs(difference) <= tolerance else 1 if difference > 0 else -1
    wanted = {
        "less": sign < 0,
        "atmost": sign <= 0,
        "exactly": sign == 0,
        "not": sign != 0,
        "atleast": sign >= 0,
        "more": sign > 0,
    }[comparator]
    return TRUE if wanted else FALSE


def holds(name: str, quantifier: Quantifier, size: int, part: int, *, tolerance: float) -> Truth:
    """Return whether a quantifier holds for `size` entities, of which `part` have the body's property.

    A share of no entities is unclear. So are two cases that English leaves open: `two` for more than two, and `some`
    for one.
    """
    if name == "the":
        return TRUE if size == part == 1 else FALSE
    if (name == "some" and part == 1) or (name == "two" and part > 2):
        return UNCLEAR
    if not quantifier.is_share:
        return stands(quantifier.comparator, part - int(quantifier.quantity))
    if size == 0:
        return UNCLEAR
    above, below = quantifier.quantity.numerator, quantifier.quantity.denominator
    return stands(quantifier.comparator, part * below - above * size, tolerance * below * size)


def compares(comparison: ComparisonPhrase, one: int, other: int) -> Truth:
    """Return whether a comparison holds for two numbers; twice or half as many is unclear if both are 0."""
    if comparison.factor != Fraction(1) and one == other == 0:
        return UNCLEAR
    above, below = comparison.factor.numerator, comparison.factor.denominator
    return stands(comparison.comparator, (one - comparison.more) * below - above * other)
