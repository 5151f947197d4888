"""Executing a family's operations on a scene, whole or with a relation left out.

Arguments that recur: `t` is `search.Tables`, `start` where the family's operations begin in it, `local` an operation's
position within its family; `scene` is (codes, related, everything, masks, unset, owner), the last three the
descriptions that fit some object; `bound` is (chosen, relation), the set that a filter's description picks out of
the scene and the relation, operation by operation; `made` is (sets, numbers), the outputs so far, and `spare` room for
others.
"""

import numpy as np

from generation.engine.search.compiled import (
    AS_UNIQUE,
    COUNT,
    EQUAL_INTEGER,
    EQUAL_OBJECT,
    EQUAL_VALUE,
    EXIST,
    FILTER,
    FILTER_ONE,
    INTERSECT,
    LESS_THAN,
    QUERY,
    RELATE,
    RELATE_FILTER,
    SAME,
    SCENE,
    UNION,
    UNIQUE,
    compiled,
)
from generation.engine.search.sets import bit, bits, having, lowest, single


@compiled
def run(local, start, t, scene, bound, made):
    """Execute one operation on earlier outputs; return False where it is ill-posed."""
    codes, related, everything = scene[0], scene[1], scene[2]
    chosen, relation = bound
    sets, numbers = made
    at = start + local
    kind, attribute = t.op[at], t.attribute[at]
    one, two = t.inputs[at, 0], t.inputs[at, 1]
    if kind == SCENE:
        sets[local] = everything
    elif kind in (FILTER, FILTER_ONE):
        sets[local] = sets[one] & chosen[local]
    elif kind == RELATE:
        sets[local] = related[relation[local], numbers[one]]
    elif kind == RELATE_FILTER:
        sets[local] = related[relation[local], numbers[one]] & chosen[local]
    elif kind == SAME:
        sets[local] = having(codes, attribute, codes[numbers[one], attribute]) & ~bit(numbers[one])
    elif kind == UNION:
        sets[local] = sets[one] | sets[two]
    elif kind == INTERSECT:
        sets[local] = sets[one] & sets[two]
    elif kind == UNIQUE:
        if not single(sets[one]):
            return False
        numbers[local] = lowest(sets[one])
    elif kind == COUNT:
        numbers[local] = bits(sets[one])
    elif kind == EXIST:
        numbers[local] = 1 if sets[one] != np.uint64(0) else 0
    elif kind == QUERY:
        numbers[local] = codes[numbers[one], attribute]
    elif kind in (EQUAL_VALUE, EQUAL_INTEGER, EQUAL_OBJECT):
        numbers[local] = 1 if numbers[one] == numbers[two] else 0
    elif kind == LESS_THAN:
        numbers[local] = 1 if numbers[one] < numbers[two] else 0
    else:
        numbers[local] = 1 if numbers[one] > numbers[two] else 0
    return True


@compiled
def run_without(dropped, last, start, t, scene, bound, made):
    """Execute operations 0 .. last with one relation replaced by the whole scene; return False if ill-posed."""
    for local in range(last + 1):
        if local == dropped:
            filtered = t.op[start + local] == RELATE_FILTER
            made[0][local] = scene[2] & bound[0][local] if filtered else scene[2]
        elif not run(local, start, t, scene, bound, made):
            return False
    return True


@compiled
def is_idle(local, start, t, scene, bound, made, spare):
    """Return whether a relation that operation `local` rests on could be left out without changing its set."""
    source = t.inputs[start + local, 0]
    drops = t.drops[start + local]
    for dropped in range(local):
        if (
            (drops >> dropped) & 1
            and run_without(dropped, source, start, t, scene, bound, spare)
            and spare[0][source] == made[0][source]
        ):
            return True
    return False


@compiled
def any_idle(last, start, t, scene, bound, made, spare):
    """Return whether some relation before a count, a question of existence or a set removes nothing."""
    for local in range(last + 1):
        at = start + local
        if t.op[at] == RELATE_FILTER and t.mode[at] != AS_UNIQUE:
            if bound[0][local] != np.uint64(0) and made[0][local] == bound[0][local]:
                return True
        elif t.op[at] in (COUNT, EXIST) and t.drops[at] != 0 and is_idle(local, start, t, scene, bound, made, spare):
            return True
    return False


@compiled
def is_degenerate(last, start, t, scene, bound, made, spare):
    """Return whether leaving out some relation keeps the answer: the original generator's whole test."""
    for dropped in range(last + 1):
        if (
            t.op[start + dropped] in (RELATE, RELATE_FILTER)
            and run_without(dropped, last, start, t, scene, bound, spare)
            and spare[1][last] == made[1][last]
        ):
            return True
    return False
