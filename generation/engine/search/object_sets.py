"""Sets of objects as bit masks, and the descriptions that select them."""

import numpy as np

from generation.engine.search.jit import compiled


@compiled
def bits(mask):
    """Return the number of objects in a set."""
    count = 0
    while mask != np.uint64(0):
        mask &= mask - np.uint64(1)
        count += 1
    return count


@compiled
def lowest(mask):
    """Return the first object of a non-empty set."""
    at = 0
    while (mask >> np.uint64(at)) & np.uint64(1) == np.uint64(0):
        at += 1
    return at


@compiled
def single(mask):
    """Return whether a set has exactly one object."""
    return mask != np.uint64(0) and (mask & (mask - np.uint64(1))) == np.uint64(0)


@compiled
def bit(at):
    """Return the set with one object."""
    return np.uint64(1) << np.uint64(at)


@compiled
def having(codes, attribute, value):
    """Return the set of objects with a value of an attribute."""
    mask = np.uint64(0)
    for j in range(codes.shape[0]):
        if codes[j, attribute] == value:
            mask |= bit(j)
    return mask


@compiled
def descriptions(codes):
    """Return all descriptions that match an object: masks, bits of unset attributes, and an object that matches."""
    n, attributes = codes.shape
    patterns = 1 << attributes
    masks = np.empty(n * patterns, np.uint64)
    unset = np.empty(n * patterns, np.int64)
    owner = np.empty(n * patterns, np.int64)
    alike = np.zeros((n, n), np.int64)
    for i in range(n):
        for j in range(n):
            for a in range(attributes):
                if codes[i, a] == codes[j, a]:
                    alike[i, j] |= 1 << a
    count = 0
    for pattern in range(patterns):
        for i in range(n):
            mask = np.uint64(0)
            first = True
            for j in range(n):
                if (alike[i, j] | pattern) == patterns - 1:
                    if j < i:
                        first = False
                        break
                    mask |= bit(j)
            if first:
                masks[count] = mask
                unset[count] = pattern
                owner[count] = i
                count += 1
    return masks[:count], unset[:count], owner[:count]
