"""How fast predictions are read, checked and scored on every facet, with how much memory, and how fast boards are.

The split is synthetic: it has as many questions as CLEVR's validation set, and random values of every facet of CLEVR.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import FacetKind
from generation.engine.predictions import ExpectedAnswers, read_predictions
from generation.engine.scoring.ranking.all_pairs import compare_all
from generation.engine.scoring.score import Slicing, score
from generation.engine.worlds import find_preset, get_world
from tests.benchmarks import _boards, _nearest_questions
from tests.benchmarks.figures import figure, together

ROOT = Path(__file__).resolve().parents[2]
N = 150_000
MANY = 1_000_000
MEGABYTES = 100
KNOWN = 60_000  # questions in the search for the nearest question
SUBMISSIONS = 200
SEED = 20161220
TRIES = 3
METHODS = 30  # rows of which every two are compared
TYPES = 10  # kinds of questions
CHILD = """
import sys
from tests.benchmarks import score
from tests.benchmarks.generate import peak_of
with open(sys.argv[1], "rb") as file:
    score.read_predictions(file, score.made_up(int(sys.argv[2])).expected)
import os
print(peak_of(os.getpid()))
"""


class MadeUp(NamedTuple):
    """Questions with their answers and facets."""

    expected: ExpectedAnswers
    truth: NDArray[np.int32]
    slicings: Mapping[str, Slicing]


def run(
    n: int = N, many: int = MANY, megabytes: int = MEGABYTES, submissions: int = SUBMISSIONS, known: int = KNOWN
) -> dict[str, Any]:
    """Return the time of scoring, of reading and scoring each format, the memory for a large file, and more figures."""
    small, large = made_up(n), made_up(many)
    with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder:
        files = {name: _write(Path(folder, name), write(small)) for name, write in FORMATS.items()}
        alone = _fastest(lambda: _score(small, small.truth))
        reading = {name: _fastest(lambda path=path: _read_and_score(small, path)) for name, path in files.items()}
        path = _write(Path(folder, "many"), FORMATS["JSON lines"](large))
        longest = _fastest(lambda: _read_and_score(large, path), tries=1)
        heavy = _write(Path(folder, "heavy"), _padded(large, megabytes))
        peak = _peak(heavy, many)
    figures = [
        figure(f"{n:,} predictions scored on every facet", alone, "s", most=0.5, cores=1),
        *(
            figure(f"{n:,} read from {name}, checked and scored", took, "s", most=1.5, cores=1)
            for name, took in reading.items()
        ),
        figure(f"{many:,} read from JSON lines, checked and scored", longest, "s", most=10, cores=1),
        figure(f"memory of reading a file of {megabytes} MB", peak, "MB", most=300, cores=1),
        figure(f"every two of {METHODS} methods compared, {n:,} answers each", _pairs(n), "s", most=1.5, cores=1),
        *_nearest_questions.figures_of(known),
        *_boards.figures_of(n, submissions),
    ]
    return together("score", figures)


def made_up(n: int) -> MadeUp:
    """Return `n` questions, which are the same in each run."""
    chance = np.random.default_rng(SEED)
    world = get_world("clevr")
    spec = world.read_spec(find_preset("clevr"))
    vocabulary = world.answers(spec)
    kinds = chance.integers(TYPES, size=n).astype(np.uint8)
    every = tuple(range(len(vocabulary)))
    expected = ExpectedAnswers(
        "made-up/val", n, vocabulary, None, kinds, tuple(every[kind::TYPES] for kind in range(TYPES))
    )
    slicings = {}
    for facet in world.facets(spec):
        is_flags = facet.kind == FacetKind.FLAGS
        codes = chance.integers(1 << len(facet.values) if is_flags else len(facet.values), size=n)
        codes = codes.astype(np.min_scalar_type(int(codes.max()) + 1))
        slicings[facet.name] = Slicing(codes, len(facet.values), is_flags)
    truth = [chance.choice(expected.admitted[kind]) for kind in kinds]  # a reply is read as a possible answer only
    return MadeUp(expected, np.array(truth, np.int32), slicings)


def _rows(made: MadeUp) -> Iterator[dict[str, Any]]:
    for position, code in enumerate(made.truth.tolist()):
        yield {"question_id": position, "answer": made.expected.vocabulary[code]}


def _replies(made: MadeUp) -> Iterator[bytes]:
    for row in _rows(made):
        row["answer"] = f"I looked at object {row['question_id']} twice. The answer is: **{row['answer']}**."
        yield json.dumps(row).encode() + b"\n"


def _padded(made: MadeUp, megabytes: int) -> Iterator[bytes]:
    """Yield JSON lines of `megabytes` in total, like lines that contain the whole question."""
    room = max(0, (megabytes << 20) // made.expected.n - 60)
    for row in _rows(made):
        yield json.dumps({**row, "doc": "x" * room}).encode() + b"\n"


def _lines(made: MadeUp) -> Iterator[bytes]:
    for row in _rows(made):
        yield f"{row['answer']}\n".encode()


def _table(made: MadeUp) -> Iterator[bytes]:
    yield b"question_id,answer\n"
    for row in _rows(made):
        yield f"{row['question_id']},{row['answer']}\n".encode()


def _json_lines(made: MadeUp) -> Iterator[bytes]:
    for row in _rows(made):
        yield json.dumps(row).encode() + b"\n"


def _json_list(made: MadeUp) -> Iterator[bytes]:
    yield json.dumps(list(_rows(made))).encode()


FORMATS: Mapping[str, Callable[[MadeUp], Iterator[bytes]]] = {
    "JSON lines": _json_lines,
    "a JSON list": _json_list,
    "a table": _table,
    "plain lines": _lines,
    "replies in sentences": _replies,
}


def _write(path: Path, pieces: Iterator[bytes]) -> Path:
    with path.open("wb") as file:
        file.writelines(pieces)
    return path


def _read_and_score(made: MadeUp, path: Path) -> None:
    file: BinaryIO
    with path.open("rb") as file:
        found = read_predictions(file, made.expected)
    _score(made, found.codes if not found.outside else found.read)


def _score(made: MadeUp, codes: NDArray[np.int32]) -> None:
    found = score(codes, made.truth, made.slicings)
    if found.right != found.n:
        raise RuntimeError(f"Expected {found.n} right answers, got {found.right}.")


def _pairs(n: int) -> float:
    """Return the seconds in which methods whose accuracies differ by one point each are compared."""
    chance, truth = np.random.default_rng(SEED), np.zeros(n, np.int64)
    methods = [[(chance.random(n) > 0.4 + at / 100).astype(np.int64)] for at in range(METHODS)]

    def compare() -> None:
        compare_all(methods, truth)

    return _fastest(compare)


def _fastest(measured: Callable[[], None], *, tries: int = TRIES) -> float:
    """Return the seconds of the fastest try, because other processes slow down some tries."""
    times = []
    for _ in range(tries):
        before = time.perf_counter()
        measured()
        times.append(time.perf_counter() - before)
    return min(times)


def _peak(path: Path, n: int) -> float:
    """Return the peak memory in MB of a process that reads a file."""
    command = [sys.executable, "-c", CHILD, str(path), str(n)]
    return float(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)
