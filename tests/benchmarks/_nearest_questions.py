"""The time of the search for the nearest question among those of CLEVR: part of the benchmark `score`."""

import re
import time
from typing import Any

import numpy as np

from generation.engine.scoring.nearest_questions import Bags, KnownQuestions, bags_of, group_questions
from generation.engine.seeding import Stage, stream
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.question_generation import Asker
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.benchmarks.figures import figure
from tests.benchmarks.questions import released, sampled

ASKED = 3_000


def figures_of(known: int) -> list[dict[str, Any]]:
    """Return the time to find the nearest of `known` questions for each of `ASKED` other questions."""
    bags, words = _bags_of(_texts(known + ASKED))
    asked = np.arange(known, known + ASKED)
    usable = np.arange(known + ASKED) < known
    KnownQuestions(bags, usable, words=words).nearest(
        bags, asked[:1]
    )  # warm-up: compiles the code, or loads it from the cache
    before = time.perf_counter()
    searched = KnownQuestions(bags, usable, words=words)
    prepared = time.perf_counter()
    firsts, _ = group_questions(bags, asked)
    searched.nearest(bags, firsts)
    took = time.perf_counter() - prepared
    name = f"the nearest of {known:,} questions, by words"
    return [
        figure(f"{name}, for each that is asked", 1000 * took / ASKED, "ms", cores=1),
        figure("making ready for that", prepared - before, "s", cores=1),
    ]


def _texts(n: int) -> list[str]:
    """Return `n` texts of CLEVR questions. They are the same in each run if the scenes of the release are there."""
    spec = get_world("clevr").read_spec({"base": "clevr"})
    assert isinstance(spec, ClevrSpec)
    scenes, texts, number = released() or sampled(spec)[0], [], 0
    while len(texts) < n:
        number += 1
        search, words = (
            stream(seed=1, split="alike", index=number, stage=stage) for stage in (Stage.QUESTIONS, Stage.WORDS)
        )
        asker = Asker(spec, search=search, words=words)
        for scene in scenes:
            asked = asker.ask(ClevrScene(scene.objects, scene.directions, scene.relationships))
            texts.extend(question.text for question in asked or ())
    return texts[:n]


def _bags_of(texts: list[str]) -> tuple[Bags, int]:
    """Return the words of texts, and the number of different words."""
    postings: dict[str, list[int]] = {}
    for position, text in enumerate(texts):
        for word in dict.fromkeys(re.findall(r"\w+", text.lower())):
            postings.setdefault(word, []).append(position)
    found = [np.array(positions, dtype=np.uint32) for positions in postings.values()]
    return bags_of(found, questions=len(texts)), len(postings)
