"""Executing a family's operations on a scene, complete or with one relation left out.

Common arguments: `t` is a `search.Tables`; `start` is the position of the family's first operation in it; `local` is an
operation's position within its family; `scene` is (codes, related, everything, masks, unset, owner), where the last
three are the descriptions that match some object; `bound` is (chosen, relation), for each operation the set that a
filter's description selects from the scene, and the relation; `made` is (sets, numbers), the outputs so far; and
`spare` is memory for other outputs.
"""

import numpy as np

from generation.engine.search.jit import (
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
from generation.engine.search.object_sets import bit, bits, having, lowest, single


@compiled
def run(local, start, t, scene, bound, made):
    """Execute one operation on earlier outputs; return False if it is ill-posed."""
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
    """Return whether some relation before operation `local` can be left out without changing its input set."""
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
    """Return whether some relation before a count, an existence question or a set removes nothing."""
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
    """Return whether the answer stays the same without some relation. This is the original generator's whole test."""
    for dropped in range(last + 1):
        if (
            t.op[start + dropped] in (RELATE, RELATE_FILTER)
            and run_without(dropped, last, start, t, scene, bound, spare)
            and spare[1][last] == made[1][last]
        ):
            return True
    return False
