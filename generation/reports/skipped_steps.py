"""The results of a split's programs with one step left out, computed once for a sample of its questions.

`report_jobs` computes them, and leaderboards compare the wrong answers of methods with them.
"""

import io
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.content_hash import digest
from generation.engine.program import FunctionTable
from generation.engine.programs.ablation import answer_without
from generation.engine.scoring.score import NONE
from generation.engine.scoring.shortcuts import sample_positions
from generation.engine.worlds import World
from generation.models import Split
from generation.storage.items import StoredItem, load_chosen
from generation.storage.split_index import SplitIndex

VERSION = 1  # changes with the computation, so that reports are computed again
SAMPLE = 20_000  # largest number of questions of a split


class AblatedQuestions(NamedTuple):
    """Some questions of a split, and the results of their programs without each step.

    Attributes
    ----------
    names : tuple of str
        The world's ablations, in the world's order.
    positions : array (questions,) of int64
        The positions of these questions in the split, ascending.
    codes : array (names, questions) of int32
        Answers as codes of the split's vocabulary; `NONE` if the program has no step of this kind or no answer
        without it.
    """

    names: tuple[str, ...]
    positions: NDArray[np.int64]
    codes: NDArray[np.int32]


def report_key(split: Split) -> str:
    return digest([VERSION, split.index_digest, [ablation.name for ablation in split.dataset.get_world().ablations]])


def find(world: World, split: Split, *, check: Callable[[], None] = lambda: None) -> AblatedQuestions:
    """Return the results of a complete split's programs. `check` is called regularly and may raise to stop."""
    index = SplitIndex.open(split)
    positions = sample_positions(index.n, SAMPLE)
    names = tuple(one.name for one in world.ablations)
    codes = np.full((len(names), len(positions)), NONE, np.int32)
    answers = {answer: code for code, answer in enumerate(index.answer_values)}
    where = np.array(index.in_source(positions.tolist()), np.int64)
    table = world.functions(split.read_spec())
    if table is None:
        return AblatedQuestions(names, positions, codes)
    for stored in load_chosen(split.source, where, scenes=index.scenes[positions]):
        check()
        for place, given in _answers(world, stored, table):
            codes[:, place] = [NONE if answer is None else answers.get(answer, NONE) for answer in given]
    return AblatedQuestions(names, positions, codes)


def _answers(world: World, stored: StoredItem, table: FunctionTable) -> Iterator[tuple[int, list[str | None]]]:
    """Yield the position of each question that has a program, and the program's results without each step."""
    for row, question in zip(stored.questions, stored.item.questions, strict=True):
        if question.program is not None and stored.item.scene is not None:
            context = table.prepare(stored.item.scene, question.scope)
            given = [answer_without(one, question.program, context, table=table) for one in world.ablations]
            yield row.position, given


def to_bytes(found: AblatedQuestions) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, names=np.array(found.names, np.str_), positions=found.positions, codes=found.codes)
    return file.getvalue()


def from_bytes(content: bytes) -> AblatedQuestions:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return AblatedQuestions(tuple(arrays["names"].tolist()), arrays["positions"], arrays["codes"])
