"""Random numbers for pixels, computed from integers. Compiled."""

from generation.engine.render.jit import compiled

MASK = 0xFFFFFFFF


@compiled
def chance(a, b, c):
    """Return a float in [0, 1) that depends only on three integers (PCG's output permutation of a mixed state)."""
    state = (a * 747796405 + b * 2891336453 + c * 277803737 + 12345) & MASK
    for _ in range(2):
        state = (state * 747796405 + 2891336453) & MASK
        word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & MASK
        state = ((word >> 22) ^ word) & MASK
    return state / 4294967296.0
