"""The options of an operation on a scene, and binding its parameters to an option.

`operation_execution` describes the common arguments.
"""

import numpy as np

from generation.engine.search.jit import (
    AS_EXIST,
    AS_SET,
    AS_UNIQUE,
    FILTER,
    FILTER_ONE,
    RELATE,
    RELATE_FILTER,
    UNSET,
    compiled,
)
from generation.engine.search.object_sets import having, single

INVENTED_TRIES = 20


@compiled
def _filter_options(mode, null, source, scene, options):
    """Fill `options` with the descriptions that a filter of `source` may try; return their number.

    A description is its position in the scene's table. A position after its end means a description to be invented.
    """
    codes, masks, unset = scene[0], scene[3], scene[4]
    count = 0
    singles = 0
    for t in range(len(masks)):
        if unset[t] & null != null or (mode == AS_SET and unset[t] == (1 << codes.shape[1]) - 1):
            continue
        only = single(masks[t] & source)
        if only or mode != AS_UNIQUE:
            options[count] = t
            count += 1
            singles += only
    if mode != AS_UNIQUE:
        for _ in range(count if mode == AS_EXIST else singles):
            options[count] = len(masks)
            count += 1
    return count


@compiled
def _relate_filter_options(mode, null, number, scene, rules, loose, random, options):
    """Fill `options` with relation * (descriptions + 1) + description; return their number.

    Pairs with an idle relation are collected at the end of `options`. With strict rules they are never tried if a
    unique reference depends on them, and otherwise only in `loose` searches, so that their share of all questions stays
    below the limit. Without strict rules their share of the options is limited.
    """
    related, masks, unset = scene[1], scene[3], scene[4]
    count = 0
    idle = len(options)
    for r in range(related.shape[0]):
        for t in range(len(masks)):
            if unset[t] & null != null:
                continue
            hit = masks[t] & related[r, number]
            if (mode == AS_UNIQUE and not single(hit)) or (mode == AS_SET and hit == np.uint64(0)):
                continue
            if hit != masks[t]:
                options[count] = r * (len(masks) + 1) + t
                count += 1
            elif not (mode == AS_UNIQUE and rules.strict):
                idle -= 1
                options[idle] = r * (len(masks) + 1) + t
    waiting = len(options) - idle
    if rules.strict:
        allowed = waiting if loose else 0
    else:
        allowed = int(np.floor(count * rules.trivial_share / (1.0 - rules.trivial_share) + 0.5))
    for k in range(min(allowed, waiting)):
        pick = idle + k + int(random.random() * (waiting - k))
        chosen = options[pick]
        options[pick] = options[idle + k]
        options[count] = chosen
        count += 1
    return count


@compiled
def options_of(local, start, t, scene, rules, loose, random, made, options):
    """Fill `options` with the options of an operation; return their number."""
    at = start + local
    kind = t.op[at]
    one = t.inputs[at, 0]
    if kind == FILTER:
        return _filter_options(t.mode[at], t.null[at], made[0][one], scene, options)
    if kind == RELATE_FILTER:
        return _relate_filter_options(t.mode[at], t.null[at], made[1][one], scene, rules, loose, random, options)
    count = 1
    if kind == RELATE:
        count = scene[1].shape[0]
    elif kind == FILTER_ONE:
        count = t.sizes[t.attribute[at]]
    for option in range(count):
        options[option] = option
    return count


@compiled
def _invent(codes, null, sizes, random, values):
    """Draw a random description that matches no object into `values`; return whether one was found."""
    for _ in range(INVENTED_TRIES):
        for a in range(len(sizes)):
            pick = int(random.random() * (sizes[a] + 1))
            values[a] = UNSET if (null >> a) & 1 or pick == sizes[a] else pick
        fits = False
        for i in range(codes.shape[0]):
            fits = True
            for a in range(len(sizes)):
                if values[a] != UNSET and values[a] != codes[i, a]:
                    fits = False
                    break
            if fits:
                break
        if not fits:
            return True
    return False


@compiled
def choose(option, local, start, t, scene, random, bound, values):
    """Bind the parameters of an operation to an option; return False if no description could be invented."""
    at = start + local
    kind = t.op[at]
    codes, _, _, masks, unset, owner = scene
    chosen, relation = bound
    if kind == RELATE:
        relation[local] = option
        values[local, 0] = option
        return True
    if kind == FILTER_ONE:
        values[local, t.attribute[at] + 1] = option
        chosen[local] = having(codes, t.attribute[at], option)
        return True
    description = option
    if kind == RELATE_FILTER:
        relation[local] = option // (len(masks) + 1)
        values[local, 0] = relation[local]
        description = option % (len(masks) + 1)
    if description == len(masks):
        chosen[local] = np.uint64(0)
        return _invent(codes, t.null[at], t.sizes, random, values[local, 1:])
    chosen[local] = masks[description]
    for a in range(codes.shape[1]):
        values[local, a + 1] = UNSET if (unset[description] >> a) & 1 else codes[owner[description], a]
    return True
