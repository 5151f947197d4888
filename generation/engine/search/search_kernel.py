"""The compiled part of the search: one call finds all questions for one scene.

`operation_execution` describes the common arguments.
"""

import numpy as np

from generation.engine.balance import may_answer
from generation.engine.search.jit import (
    FILTER,
    FILTER_ONE,
    INTERSECT,
    RELATE,
    RELATE_FILTER,
    UNION,
    UNIQUE,
    UNSET,
    compiled,
)
from generation.engine.search.object_sets import bit, descriptions
from generation.engine.search.operation_execution import any_idle, is_degenerate, is_idle, run
from generation.engine.search.operation_options import choose, options_of


@compiled
def _bind(local, start, t, scene, random, bound, values, options, left, tried):
    """Bind an operation to an option that was not tried yet; return False if no description could be invented."""
    kind = t.op[start + local]
    if kind not in (FILTER, FILTER_ONE, RELATE, RELATE_FILTER):
        tried[local] += 1
        return True
    pick = tried[local]
    if left[local] > 1 or kind in (FILTER, RELATE_FILTER):
        pick += int(random.random() * (left[local] - tried[local]))
    option = options[local, pick]
    options[local, pick] = options[local, tried[local]]
    tried[local] += 1
    return choose(option, local, start, t, scene, random, bound, values)


@compiled
def _fits(local, family, start, t, scene, rules, loose, bound, made, spare):
    """Return whether an operation's output obeys the family's constraints and no relation is idle."""
    sets, numbers = made
    at = start + local
    for pair in range(t.differ.shape[1]):
        if t.differ[family, pair, 1] == local:
            one = t.differ[family, pair, 0]
            alike = sets[one] == sets[local] if t.op[start + one] <= INTERSECT else numbers[one] == numbers[local]
            if alike:
                return False
    if not rules.strict:
        return True
    if t.op[at] in (UNION, INTERSECT) and sets[t.inputs[at, 0]] == sets[t.inputs[at, 1]]:
        return False
    if t.drops[at] != 0 and is_idle(local, start, t, scene, bound, made, spare):
        return t.op[at] != UNIQUE and loose
    return True


@compiled
def _collect(family, t, values, row):
    """Write the values that operations bound into `row`, by parameter; return whether all constraints hold."""
    start, end = t.first[family]
    for at in range(start, end):
        for slot in range(t.params.shape[1]):
            if t.params[at, slot] >= 0:
                row[t.params[at, slot]] = values[at - start, slot]
    for pair in range(t.unequal.shape[1]):
        one, two = t.unequal[family, pair]
        if one >= 0 and row[one] == row[two]:
            return False
    return True


@compiled
def _instantiate(family, t, scene, rules, loose, random, counts, space, row):
    """Search one family; return the answer's code or -1, and whether a relation is idle. Parameters go into `row`."""
    options, left, tried, bound, made, spare, values = space
    start, end = t.first[family]
    last = end - start - 1
    states = 0
    local = 0
    fresh = True
    while local >= 0:
        if fresh:
            tried[local] = 0
            left[local] = options_of(local, start, t, scene, rules, loose, random, made, options[local])
        fresh = False
        if tried[local] == left[local]:
            local -= 1
            continue
        states += 1
        if states > rules.states:
            break
        if not _bind(local, start, t, scene, random, bound, values, options, left, tried):
            continue
        if not run(local, start, t, scene, bound, made):
            continue
        if local == last and not may_answer(
            counts[: t.answers[family]], made[1][last], rules.ratio, rules.median_ratio, rules.median_floor
        ):
            continue
        if not _fits(local, family, start, t, scene, rules, loose, bound, made, spare):
            continue
        if local < last:
            local += 1
            fresh = True
            continue
        if not rules.strict and t.bare[family] and is_degenerate(last, start, t, scene, bound, made, spare):
            continue
        if _collect(family, t, values, row):
            return made[1][last], any_idle(last, start, t, scene, bound, made, spare)
    return -1, False


@compiled
def _space(t, scene):
    """Return working memory for the search of any family: options, their counts, tried counts, and outputs."""
    longest = 0
    for family in range(len(t.first)):
        longest = max(longest, t.first[family, 1] - t.first[family, 0])
    room = max(2 * len(scene[3]) * scene[1].shape[0], np.max(t.sizes)) + 1
    return (
        np.empty((longest, room), np.int64),
        np.zeros(longest, np.int64),
        np.zeros(longest, np.int64),
        (np.zeros(longest, np.uint64), np.zeros(longest, np.int64)),
        (np.zeros(longest, np.uint64), np.zeros(longest, np.int64)),
        (np.zeros(longest, np.uint64), np.zeros(longest, np.int64)),
        np.full((longest, t.params.shape[1]), UNSET, np.int64),
    )


@compiled
def ask_scene(codes, related, t, rules, wanted, width, used, idle, counts, random):
    """Return the number of questions, their families, parameter codes, answers, and whether a relation is idle.

    Each family is tried once, the least used first, with ties in random order. `used` and `idle` are the numbers of
    questions and of questions with an idle relation that each family has given.
    """
    masks, unset, owner = descriptions(codes)
    scene = (codes, related, bit(codes.shape[0]) - np.uint64(1), masks, unset, owner)
    space = _space(t, scene)
    families = np.zeros(wanted, np.int64)
    rows = np.full((wanted, width), UNSET, np.int64)
    answers = np.zeros(wanted, np.int64)
    idles = np.zeros(wanted, np.int64)
    order = np.empty(len(used), np.float64)
    for family in range(len(used)):
        order[family] = used[family] + random.random()
    found = 0
    for family in np.argsort(order):
        if found == wanted:
            break
        if t.answers[family] == 0:
            continue
        loose = idle[family] + 1 <= rules.trivial_share * (used[family] + 1)
        answer, is_one_idle = _instantiate(family, t, scene, rules, loose, random, counts[family], space, rows[found])
        if answer < 0:
            rows[found] = UNSET
            continue
        families[found] = family
        answers[found] = answer
        idles[found] = is_one_idle
        found += 1
    return found, families, rows, answers, idles


@compiled
def ask_family(codes, related, t, rules, family, width, used, idle, counts, random):
    """Search one question of a family; return its answer or -1, whether a relation is idle, and parameter codes."""
    masks, unset, owner = descriptions(codes)
    scene = (codes, related, bit(codes.shape[0]) - np.uint64(1), masks, unset, owner)
    row = np.full(width, UNSET, np.int64)
    loose = idle + 1 <= rules.trivial_share * (used + 1)
    answer, is_idle = _instantiate(family, t, scene, rules, loose, random, counts, _space(t, scene), row)
    return answer, is_idle, row
