"""A stand-in for gymnasium: its environments and the spaces that our documentation uses."""

from typing import Any

import numpy as np
from gymnasium import spaces as spaces


class Env:
    def reset(self, *, seed: int | None = None) -> None:
        self.np_random = np.random.default_rng(seed)

    def step(self, action: Any) -> Any:
        raise NotImplementedError
