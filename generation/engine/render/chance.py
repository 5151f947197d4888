"""Random numbers for pixels: integers in, floats out. Compiled."""

from generation.engine.render.compiled import compiled

MASK = 0xFFFFFFFF


@compiled
def chance(a, b, c):
    """Return a float in [0, 1) that depends on three integers alone (PCG's output permutation over a mixed state)."""
    state = (a * 747796405 + b * 2891336453 + c * 277803737 + 12345) & MASK
    for _ in range(2):
        state = (state * 747796405 + 2891336453) & MASK
        word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & MASK
        state = ((word >> 22) ^ word) & MASK
    return state / 4294967296.0
