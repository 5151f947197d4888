"""Compiled functions that run cut programs; see `question_demands`.

Sets of objects and sets of values are bit masks; a count is a number; yes and no are one bit each.
"""

from pathlib import Path

import numpy as np

from generation.engine.language.families import Op
from generation.engine.numba_compiler import compiler

HERE = Path(__file__).parent
MOST_CUTS = 63  # object inputs of one program, one bit each
MOST_STATES = 512  # different outputs of one step over all cuts
ROOM = 8 * MOST_STATES

SCENE, FILTER, RELATE, SAME, UNION, INTERSECT, UNIQUE, COUNT, EXIST, QUERY = (
    int(op)
    for op in (
        Op.SCENE,
        Op.FILTER_ONE,
        Op.RELATE,
        Op.SAME,
        Op.UNION,
        Op.INTERSECT,
        Op.UNIQUE,
        Op.COUNT,
        Op.EXIST,
        Op.QUERY,
    )
)
EQUAL_VALUE, EQUAL_INTEGER, LESS_THAN, GREATER_THAN, EQUAL_OBJECT = (
    int(op) for op in (Op.EQUAL_VALUE, Op.EQUAL_INTEGER, Op.LESS_THAN, Op.GREATER_THAN, Op.EQUAL_OBJECT)
)
NO, YES = 1, 2  # a set of answers to a yes-or-no question, as bits


compiled = compiler("diagnose", files=[HERE / "cut_programs.py", HERE.with_name("language") / "families.py"])


@compiled
def single(members):
    """Return whether a mask has exactly one bit."""
    return members != 0 and members & (members - np.uint64(1)) == 0


@compiled
def value_sets(codes, width):
    """Return an array (attributes, width) uint64 with the objects that have each value."""
    having = np.zeros((codes.shape[1], width), np.uint64)
    for i in range(codes.shape[0]):
        for a in range(codes.shape[1]):
            having[a, codes[i, a]] |= np.uint64(1) << np.uint64(i)
    return having


@compiled
def one_input(op, attribute, value, members, codes, related, halves, having, absolute):
    """Return the output of a function for a set of objects. A function of one object is applied to each member."""
    if op == FILTER:
        return members & having[attribute, value]
    if op == UNIQUE:
        return members
    if op == COUNT:
        count = np.uint64(0)
        while members != 0:
            members &= members - np.uint64(1)
            count += np.uint64(1)
        return count
    if op == EXIST:
        return np.uint64(YES) if members != 0 else np.uint64(NO)
    if op == RELATE and absolute:
        return halves[value]
    found = np.uint64(0)
    for i in range(codes.shape[0]):
        this = np.uint64(1) << np.uint64(i)
        if members & this == 0:
            continue
        if op == RELATE:
            found |= related[value, i]
        elif op == SAME:
            found |= having[attribute, codes[i, attribute]] & ~this
        else:
            found |= np.uint64(1) << np.uint64(codes[i, attribute])
    return found


@compiled
def two_inputs(op, one, two):
    """Return the output of a function of two inputs; 0 if sets of several values would have to be compared."""
    if op == UNION:
        return one | two
    if op == INTERSECT:
        return one & two
    if op == EQUAL_OBJECT:
        if one == 0 or two == 0:
            return np.uint64(0)
        if one & two == 0:
            return np.uint64(NO)
        return np.uint64(YES) if one == two and single(one) else np.uint64(NO | YES)
    if op == EQUAL_VALUE:
        if not (single(one) and single(two)):
            return np.uint64(0)
        return np.uint64(YES) if one == two else np.uint64(NO)
    if op == EQUAL_INTEGER:
        return np.uint64(YES) if one == two else np.uint64(NO)
    if op == LESS_THAN:
        return np.uint64(YES) if one < two else np.uint64(NO)
    return np.uint64(YES) if one > two else np.uint64(NO)


@compiled
def answer_of(start, end, op, attribute, value, codes, related, halves, having, absolute, stack):
    """Return the output of a program's last step, and whether every `unique` got exactly one object."""
    every = (np.uint64(1) << np.uint64(codes.shape[0])) - np.uint64(1)
    top, posed = 0, True
    for at in range(start, end):
        if op[at] == SCENE:
            stack[top] = every
            top += 1
        elif takes_two(op[at]):
            top -= 1
            stack[top - 1] = two_inputs(op[at], stack[top - 1], stack[top])
        else:
            posed = posed and (op[at] != UNIQUE or single(stack[top - 1]))
            stack[top - 1] = one_input(
                op[at], attribute[at], value[at], stack[top - 1], codes, related, halves, having, absolute
            )
    return stack[0], posed


@compiled
def takes_two(op):
    """Return whether a function takes two inputs."""
    return op in (UNION, INTERSECT) or op >= EQUAL_VALUE


@compiled
def keep(found, count, members, size, cuts):
    """Add a way to reach an output, unless a better one is known; return the number of outputs, -1 if too many.

    A smaller program is better. Of equal sizes, cuts nearer to the answer are better: the higher bit is set.
    """
    for k in range(count):
        if found[0, k] == members:
            if size < found[1, k] or (size == found[1, k] and cuts > found[2, k]):
                found[1, k], found[2, k] = size, cuts
            return count
    if count == found.shape[1]:
        return -1
    found[0, count], found[1, count], found[2, count] = members, size, cuts
    return count + 1


@compiled
def mapped(op, attribute, value, begin, end, codes, related, halves, having, stack, found):
    """Write a function's outputs for the inputs from `begin` to `end` into `found`; return their number."""
    count = 0
    for i in range(begin, end):
        members = one_input(op, attribute, value, stack[0, i], codes, related, halves, having, False)
        if count >= 0:
            count = keep(found, count, members, stack[1, i] + np.uint64(1), stack[2, i])
    return count


@compiled
def joined(op, begin, middle, end, stack, found):
    """Write a function's outputs for all pairs of two inputs into `found`; return their number."""
    count = 0
    for i in range(begin, middle):
        for j in range(middle, end):
            members = two_inputs(op, stack[0, i], stack[0, j])
            if count >= 0 and (members != 0 or op <= INTERSECT):
                size = stack[1, i] + stack[1, j] + np.uint64(1)
                count = keep(found, count, members, size, stack[2, i] | stack[2, j])
    return count


@compiled
def shortest(start, end, op, attribute, value, cut, wanted, codes, related, halves, having, stack, found):
    """Return size and cuts of the smallest cut program whose output is `wanted`; size 0 if there are too many.

    For each pending input, the stack contains its possible outputs. The rows of the stack are output, size, cuts.
    """
    nothing, one_more = np.uint64(0), np.uint64(1)
    every = (one_more << np.uint64(codes.shape[0])) - one_more
    begins = np.zeros(end - start + 1, np.int64)
    depth = 0
    for at in range(start, end):
        if op[at] == SCENE:
            count = keep(found, 0, every, one_more, nothing)
        elif takes_two(op[at]):
            depth -= 2
            count = joined(op[at], begins[depth], begins[depth + 1], begins[depth + 2], stack, found)
        else:
            depth -= 1
            begin, after = begins[depth], begins[depth + 1]
            count = mapped(op[at], attribute[at], value[at], begin, after, codes, related, halves, having, stack, found)
        if count >= 0 and cut[at] > MOST_CUTS:
            count = -1
        elif count >= 0 and cut[at] >= 0:
            count = keep(found, count, every, one_more, one_more << np.uint64(MOST_CUTS - cut[at]))
        if count < 0 or begins[depth] + count > stack.shape[1]:
            return nothing, nothing
        stack[:, begins[depth] : begins[depth] + count] = found[:, :count]
        depth += 1
        begins[depth] = begins[depth - 1] + count
    for k in range(begins[1]):
        if stack[0, k] == wanted:
            return stack[1, k], stack[2, k]
    return nothing, nothing


@compiled
def diagnose_scene(codes, related, halves, width, first, op, attribute, value, cut, stack, found):
    """Return sizes and cuts (uint64) of the effective programs, whether each is absolute, and whether it answers."""
    having = value_sets(codes, width)
    programs = first.shape[0] - 1
    sizes, cuts = np.zeros(programs, np.uint64), np.zeros(programs, np.uint64)
    absolute, answers = np.zeros(programs, np.bool_), np.zeros(programs, np.bool_)
    for p in range(programs):
        start, end = first[p], first[p + 1]
        wanted, well = answer_of(start, end, op, attribute, value, codes, related, halves, having, False, stack[0])
        answers[p] = well
        if not well:
            continue
        in_halves, posed = answer_of(start, end, op, attribute, value, codes, related, halves, having, True, stack[0])
        absolute[p] = posed and in_halves == wanted
        sizes[p], cuts[p] = shortest(
            start, end, op, attribute, value, cut, wanted, codes, related, halves, having, stack, found
        )
    return sizes, cuts, absolute, answers
