"""Estimates of the memory of trainings, compared with the memory that processes used."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from generation.engine.language.token_vocabulary import split_words
from generation.engine.learners import CLASSICAL, METHODS, find_learner
from generation.engine.learners.base import PROCESS_BYTES, DataShape, SizeName
from generation.engine.learners.examples import Examples
from generation.engine.scoring.ngram_classifier import MOST
from tests.engine.learners.made_examples import stories

ROOT = Path(__file__).resolve().parents[3]
MIB = 2**20
EXAMPLES = 400
SMALL = DataShape(questions=1000, words=200, answers=30, kinds=5, lines=3000, example_words=100, story_lines=10)
QUICK: dict[str, dict[str, Any]] = {
    "n-grams": {},
    "nearest-question": {},
    "bag-of-words": {"epochs": 1},
    "structured-svm": {"epochs": 1},
    "memn2n": {"epochs": 1, "embedding": 300, "starts": 1, "joint": True},
}
PROGRAM = """
import sys
from tests.engine.learners.test_estimate_memory import measure
print(measure(sys.argv[1]))
"""


class Silent:
    """A reporter that ignores all reports."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def peak() -> int:
    """Return the largest resident memory of this process so far, in bytes."""
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def measure(name: str) -> int:
    """Return by how many bytes a training raises the peak of this process."""
    learner = find_learner(name)
    before = peak()
    examples = stories(EXAMPLES)
    learner(learner.read_config(QUICK[name]), seed=0).fit(examples, examples.select(range(20)), report=Silent())
    return peak() - before


def shape_of(examples: Examples) -> DataShape:
    assert examples.stories is not None
    lines = {line for story in examples.stories for line in story}
    longest = [
        len(split_words(" ".join((text, *story)))) for text, story in zip(examples.texts, examples.stories, strict=True)
    ]
    return DataShape(
        questions=len(examples),
        words=len({word for text in (*examples.texts, *lines) for word in split_words(text)}),
        answers=len(examples.vocabulary),
        kinds=len(set(examples.kinds)),
        lines=len(lines),
        example_words=max(longest),
        story_lines=max(map(len, examples.stories)),
    )


@pytest.mark.parametrize("name", CLASSICAL)
def test_the_estimate_is_near_the_memory_that_a_training_uses(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, name], capture_output=True, text=True, cwd=ROOT, check=True)
    used = int(done.stdout)
    learner = find_learner(name)
    estimate = learner.estimate_memory(learner.read_config(QUICK[name]), shape_of(stories(EXAMPLES)))
    assert used <= estimate, (used / MIB, estimate / MIB)
    pairs = 5 * 8 * MOST**2 if name == "n-grams" else 0  # its number of phrases is not known before; it is at most MOST
    assert estimate <= 4 * used + 2 * PROCESS_BYTES + pairs, (used / MIB, estimate / MIB)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", ["mini", "paper"])
def test_a_small_training_needs_less_than_four_gigabytes(name: str, size: SizeName) -> None:
    learner = find_learner(name)
    assert PROCESS_BYTES < learner.estimate_memory(learner.read_config({}, size=size), SMALL) < 4 * 2**30


@pytest.mark.parametrize("name", METHODS)
def test_the_largest_settings_need_more_and_are_estimated_at_once(name: str) -> None:
    learner = find_learner(name)
    sizes = {"batch": 100_000, "embedding": 1000, "units": 8192, "starts": 100, "memory": 1000, "hops": 20}
    sizes |= {"height": 1024, "width": 1024, "layers": 8}
    changes = {field: value for field, value in sizes.items() if field in learner.config_model.model_fields}
    began = time.process_time()
    estimate = learner.estimate_memory(learner.read_config(changes), SMALL._replace(questions=100_000))
    assert time.process_time() - began < 0.5
    if learner.config_model.model_fields.keys() & {"embedding", "units", "height"}:
        assert estimate > 4 * 2**30
