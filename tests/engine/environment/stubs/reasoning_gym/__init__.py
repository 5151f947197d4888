"""A stand-in for reasoning-gym: a dataset of entries with `question`, `answer` and `metadata`."""

from collections.abc import Iterator
from typing import Any


class Legs:
    def __init__(self, size: int) -> None:
        self.size = size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for number in range(self.size):
            yield {"question": f"How many legs have {number} ducks?", "answer": str(2 * number), "metadata": {}}

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        return float(answer == entry["answer"])


def create_dataset(name: str, *, size: int, seed: int) -> Legs:
    assert name == "leg_counting" and isinstance(seed, int)
    return Legs(size)
