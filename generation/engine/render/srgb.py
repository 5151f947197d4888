"""The sRGB curve as a table."""

import numpy as np

STEPS = 4096


def encode_table() -> np.ndarray:
    """Return (STEPS + 1,) float32: the sRGB value, 0 to 255, of linear light i / STEPS."""
    light = np.arange(STEPS + 1) / STEPS
    low = 12.92 * light
    high = 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055
    return (255.0 * np.where(light <= 0.0031308, low, high)).astype(np.float32)
