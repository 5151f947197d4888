"""Records of findings: the datasets and trainings of a run, its figures, and the outcomes of statements.

Records of the repository are in `records/`, and records of this site are in `VAR_DIR/findings/`. The same folder has
the journal of each run, with the seconds of each step that is done.
"""

import json
import logging
import os
import platform
import sys
from collections.abc import Iterator
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any, TypeGuard

from django.conf import settings
from pydantic import field_validator

from generation.engine.errors import BadSpec
from generation.engine.learners.base import SizeName
from generation.engine.learners.model_files import write_whole
from generation.engine.scoring.figures import rounded
from generation.engine.scoring.statements import Inequality, Measurement, StatementOutcome, interval_of_sum
from generation.engine.spec import Frozen, read
from webapp.leaderboards.findings.definitions import BadFinding, load
from webapp.leaderboards.training.results import code_version

FOLDER = Path(__file__).parent / "records"
PACKAGES = ("numpy", "numba", "torch")
CPU_INFO = Path("/proc/cpuinfo")

log = logging.getLogger(__name__)


class RecordedFigure(Frozen):
    """A figure with its 95 % interval, its number of questions, and the figure of each run."""

    value: float
    low: float
    high: float
    n: int
    runs: tuple[float, ...]


class RecordedStatement(Inequality):
    """A statement with the sum of its figures, the 95 % interval of the sum, and whether it holds."""

    says: str
    value: float
    low: float
    high: float
    outcome: StatementOutcome


class RecordedDataset(Frozen):
    """A dataset that a run made: its content hash, and the questions and content hash of each split that was used."""

    name: str
    slug: str
    content_hash: str
    splits: dict[str, tuple[int, str]]


class RecordedTraining(Frozen):
    """A training of a run.

    Attributes
    ----------
    name, method, label, seed : str, int
    seconds : float
    parameters, examples_seen : int or None
    code_version : str
        The code that trained it, which may be older than that of the record.
    config : mapping or None
        The settings that the definition changes. None in records that are older than this field.
    """

    name: str
    method: str
    label: str
    seed: int
    seconds: float
    parameters: int | None
    examples_seen: int | None
    code_version: str = ""
    config: dict[str, Any] | None = None


class FindingRecord(Frozen):
    """All that a run of a finding records.

    Attributes
    ----------
    finding, size : str
    definition : str
        The digest of the definition; see `Definition.digest`.
    date : str
        The time at which the run ended, in ISO 8601.
    command : str
    seconds : float
        The sum of the seconds of all steps.
    machine, versions : mapping of str to str
        The machine and the versions at `date`. Each training has its own code version.
    datasets, trainings, statements : tuple
    figures : mapping of str to RecordedFigure
        By the name `table/row/column`.
    """

    finding: str
    size: SizeName
    definition: str
    date: str
    command: str
    seconds: float
    machine: dict[str, str]
    versions: dict[str, str]
    datasets: tuple[RecordedDataset, ...]
    trainings: tuple[RecordedTraining, ...]
    figures: dict[str, RecordedFigure]
    statements: tuple[RecordedStatement, ...]

    @field_validator("date")
    @classmethod
    def _has_zone(cls, date: str) -> str:
        if datetime.fromisoformat(date).tzinfo is None:
            raise ValueError(f"Expected a time with its zone, got {date}")
        return date

    @property
    def end_time(self) -> datetime:
        return datetime.fromisoformat(self.date)


def record_figure(measured: Measurement, *, is_share: bool) -> RecordedFigure:
    low, high = interval_of_sum([(1.0, measured)])
    if is_share:  # the part of the runs can exceed 0 or 1
        low, high = max(0.0, low), min(1.0, high)
    runs = tuple(rounded(float(value)) for value in measured.values)
    return RecordedFigure(value=rounded(measured.value), low=rounded(low), high=rounded(high), n=measured.n, runs=runs)


def describe_machine() -> dict[str, str]:
    """Return the system, the processor and the number of cores of this machine."""
    lines = CPU_INFO.read_text(encoding="utf-8").splitlines() if CPU_INFO.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": names[0] if names else platform.processor() or "unknown",
        "cores": str(os.cpu_count() or 1),
    }


def describe_versions() -> dict[str, str]:
    found = {"horsesense": code_version(), "python": platform.python_version()}
    return found | dict(_installed())


def _installed() -> Iterator[tuple[str, str]]:
    """Yield the packages of this Python and of the Python that trains networks, with their versions."""
    home = Path(settings.TRAINING_PYTHON).parent.parent
    folders = [*sys.path, *map(str, home.glob("lib/python*/site-packages"))]
    for name in PACKAGES:
        known = list(metadata.distributions(name=name, path=folders))
        if known:
            yield name, known[0].version


# Files


def own_folder() -> Path:
    return Path(settings.VAR_DIR) / "findings"


def path_of(finding: str, size: SizeName, *, folder: Path) -> Path:
    return folder / f"{finding}-{size}.json"


def write(record: FindingRecord, *, folder: Path) -> Path:
    """Write a record and return its file."""
    path = path_of(record.finding, record.size, folder=folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record.model_dump(mode="json"), indent=1, ensure_ascii=False)
    write_whole(path, f"{text}\n".encode())
    return path


def read_record(path: Path) -> FindingRecord | None:
    """Return a record, or None without a file; raise `BadFinding` if the file is damaged."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return read(FindingRecord, data)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, BadSpec) as error:
        raise BadFinding(f"Expected the record of a finding, got: {error}", where=path.name) from error


def load_latest(finding: str, size: SizeName) -> FindingRecord | None:
    """Return the newest record of the present definition; without one, the newest record of an earlier definition."""
    # A damaged record is logged, so that pages work without it.
    loaded = [_load(path_of(finding, size, folder=folder)) for folder in (FOLDER, own_folder())]
    found = [one for one in loaded if one is not None]
    if len(found) < 2:
        return next(iter(found), None)
    current = load(finding).digest(size)
    return max(found, key=lambda one: (one.definition == current, one.end_time))


def load_own(finding: str, size: SizeName) -> FindingRecord | None:
    return _load(path_of(finding, size, folder=own_folder()))


def _load(path: Path) -> FindingRecord | None:
    try:
        return read_record(path)
    except BadFinding as error:
        log.warning("The record of a finding in %s is not used. %s", path.parent, error)
        return None


def _are_seconds(data: Any) -> TypeGuard[dict[str, float]]:
    return isinstance(data, dict) and all(  # JSON can hold NaN, and whole numbers that are too large
        isinstance(one, int | float) and 0 <= one <= sys.float_info.max for one in data.values()
    )


class Journal:
    """The seconds of the steps that are done, in a file, so that a run can continue after it was killed.

    The file stays after the run, so that a second record counts the seconds of the first run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: dict[str, float] = self._read()

    def _read(self) -> dict[str, float]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        seconds = found.get("seconds") if isinstance(found, dict) else None
        return seconds if _are_seconds(seconds) else {}

    def note(self, step: str, seconds: float) -> None:
        self.seconds[step] = round(self.seconds.get(step, 0.0) + seconds, 3)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.path, json.dumps({"seconds": self.seconds}, indent=1).encode())
