"""A program that trains a method, and prints its largest resident memory and the estimate.

`python -m tests.engine.learners.memory_trial METHOD EXAMPLES SETTINGS FOLDER`. The checkpoint is kept in the folder.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from generation.engine.language.token_vocabulary import split_words
from generation.engine.learners import CLASSICAL, NETWORKS, find_learner
from generation.engine.learners.base import DataShape
from generation.engine.learners.examples import Examples
from generation.engine.learners.training_process import prepare_torch, print_line
from generation.engine.scoring.ngram_classifier import grams_of
from tests.engine.learners import made_examples
from tests.engine.learners.conformance import SilentReporter


def peak() -> int:
    """Return the largest resident memory of this process so far, in bytes."""
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def examples_of(name: str, n: int, settings: dict[str, Any]) -> Examples:
    """Return examples that a method can learn from. Pictures have the size of the settings."""
    learner = find_learner(name)
    if name in CLASSICAL or learner.needs.stories:
        told = made_examples.stories(n)
        numbered = tuple(f"{text} Number {at}." for at, text in enumerate(told.texts))
        return told if learner.needs.stories else replace(told, texts=numbered)  # with many words and phrases
    made = made_examples.counts if learner.needs.counts else made_examples.relations
    examples, config = made(n), learner.read_config(settings)
    if not learner.needs.images:
        return examples
    height, width = (getattr(config, side) for side in ("height", "width"))
    pictures = np.random.default_rng(0).integers(256, size=(n, height, width, 3), dtype=np.uint8)
    return replace(examples, images=pictures)


def shape_of(examples: Examples) -> DataShape:
    stories = examples.stories or ((),) * len(examples)
    lines = {line for story in stories for line in story}
    phrases: dict[str, set[str]] = {}
    for text, kind, story in zip(examples.texts, examples.kinds, stories, strict=True):
        phrases.setdefault(kind, set()).update(one for part in (text, *story) for one in grams_of(split_words(part)))
    return DataShape(
        questions=len(examples),
        words=len({word for text in (*examples.texts, *lines) for word in split_words(text)}),
        answers=len(examples.vocabulary),
        kinds=len(phrases),
        kind_words=sum(" " not in phrase for some in phrases.values() for phrase in some) // len(phrases),
        pictures=len(examples),
        other_questions=20,
        texts=len(set(examples.texts)),
        lines=len(lines),
        phrases=max(map(len, phrases.values())),
        question_words=max(len(split_words(text)) for text in examples.texts),
        line_words=max((len(split_words(line)) for line in lines), default=0),
        story_lines=max(map(len, stories)),
        regions=int(np.diff(examples.regions.starts).max()) if examples.regions is not None else 0,
        example_bytes=1000 + sum(120 + len(line) for story in stories for line in story) // len(examples),
    )


def main(name: str, count: str, text: str, folder: str) -> None:
    if name in NETWORKS:
        prepare_torch(1, "cpu")
    learner, n, settings = find_learner(name), int(count), json.loads(text)
    examples, config = examples_of(name, n, settings), learner.read_config(settings)
    val = examples.select(range(min(n, 20)))
    learner(config, seed=0).fit(examples, val, report=SilentReporter(), checkpoint=Path(folder))
    used = peak()
    print_line({"used": used, "estimate": learner.estimate_memory(config, shape_of(examples))})


if __name__ == "__main__":
    main(*sys.argv[1:])
