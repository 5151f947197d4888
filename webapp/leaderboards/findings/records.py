"""Records of findings: the datasets and trainings of a run, its figures, and the outcomes of statements.

Records of the repository are in `records/`. Records of this site are in the folder `findings` of the storage, which all
web servers share and every backup has. The same folder has the journal of each run, with the seconds of each step that
is done. Release 0.1.0 wrote both into `VAR_DIR/findings`; what is still there is read too, until it is moved.
"""

import json
import logging
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, TypeGuard

from django.conf import settings
from django.core.files.storage import default_storage
from pydantic import field_validator

from generation.engine.errors import BadSpec
from generation.engine.learners.base import SizeName
from generation.engine.learners.model_files import write_whole
from generation.engine.scoring.figures import rounded
from generation.engine.scoring.statements import Inequality, Measurement, StatementOutcome, interval_of_sum
from generation.engine.spec import Frozen, read
from generation.program_version import code_version
from generation.storage import files
from webapp.leaderboards.findings.definitions import BadFinding, load

FOLDER = Path(__file__).parent / "records"
STORED = "findings"  # folder of the storage
JOURNAL = ".journal.json"
PACKAGES = ("numpy", "numba", "torch")
CPU_INFO = Path("/proc/cpuinfo")

log = logging.getLogger(__name__)


class RecordedFigure(Frozen):
    """A figure with its 95 % interval, its number of questions, and the figure of each run.

    `guess` is the figure of the best constant answer to each type of question. It is None for figures that are no
    accuracies, and in records that are older than this field.
    """

    value: float
    low: float
    high: float
    n: int
    runs: tuple[float, ...]
    guess: float | None = None


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


def record_figure(measured: Measurement, *, is_share: bool, guess: float | None = None) -> RecordedFigure:
    low, high = interval_of_sum([(1.0, measured)])
    if is_share:  # the part of the runs can exceed 0 or 1
        low, high = max(0.0, low), min(1.0, high)
    runs = tuple(rounded(float(value)) for value in measured.values)
    return RecordedFigure(
        value=rounded(measured.value),
        low=rounded(low),
        high=rounded(high),
        n=measured.n,
        runs=runs,
        guess=None if guess is None else rounded(guess),
    )


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


def old_folder() -> Path:
    # Release 0.1.0 kept records and journals here.
    return Path(settings.VAR_DIR) / "findings"


def name_of(finding: str, size: SizeName) -> str:
    return f"{STORED}/{finding}-{size}.json"


def path_of(finding: str, size: SizeName, *, folder: Path) -> Path:
    return folder / f"{finding}-{size}.json"


def write(record: FindingRecord, *, folder: Path) -> Path:
    """Write a record into a folder of this machine, and return its file."""
    path = path_of(record.finding, record.size, folder=folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, _encode(record))
    return path


def store(record: FindingRecord) -> str:
    name = name_of(record.finding, record.size)
    files.put(name, _encode(record))
    return name


def _encode(record: FindingRecord) -> bytes:
    return f"{json.dumps(record.model_dump(mode='json'), indent=1, ensure_ascii=False)}\n".encode()


def read_record(path: Path) -> FindingRecord | None:
    return _read(path.read_bytes, where=path.name)


def _read(get: Callable[[], bytes], *, where: str) -> FindingRecord | None:
    """Return a record, or None without a file; raise `BadFinding` if the file is damaged."""
    try:
        return read(FindingRecord, json.loads(get().decode()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, BadSpec) as error:
        raise BadFinding(f"Expected the record of a finding, got: {error}", where=where) from error


def load_latest(finding: str, size: SizeName) -> FindingRecord | None:
    # A damaged record is logged, so that pages work without it.
    loaded = [_load(path_of(finding, size, folder=FOLDER)), *_load_own(finding, size)]
    return _newest(finding, size, loaded)


def load_own(finding: str, size: SizeName) -> FindingRecord | None:
    return _newest(finding, size, _load_own(finding, size))


def _newest(finding: str, size: SizeName, loaded: Iterable[FindingRecord | None]) -> FindingRecord | None:
    # The newest record of the present definition; without one, the newest record of an earlier definition.
    found = [one for one in loaded if one is not None]
    if len(found) < 2:
        return next(iter(found), None)
    current = load(finding).digest(size)
    return max(found, key=lambda one: (one.definition == current, one.end_time))


def _load_own(finding: str, size: SizeName) -> Iterator[FindingRecord | None]:
    yield _load_stored(name_of(finding, size))
    yield _load(path_of(finding, size, folder=old_folder()))


def _load_stored(name: str) -> FindingRecord | None:
    folder, _, file = name.rpartition("/")
    return _logged(partial(_read, partial(files.get, name), where=file), place=f"{folder} of the storage")


def _load(path: Path) -> FindingRecord | None:
    return _logged(partial(read_record, path), place=str(path.parent))


def _logged(load: Callable[[], FindingRecord | None], *, place: str) -> FindingRecord | None:
    try:
        return load()
    except BadFinding as error:
        log.warning("The record of a finding in %s is not used. %s", place, error)
        return None


def move_old_files() -> int:
    """Move what release 0.1.0 kept in `VAR_DIR` of this machine into the storage, and return the number of files.

    A newer file in the storage stays. Called twice, or killed half-way, it loses nothing.
    """
    moved = 0
    for path in sorted(old_folder().glob("*.json")):
        name = f"{STORED}/{path.name}"
        if not default_storage.exists(name) or _is_newer(path, name):
            files.put(name, path.read_bytes())
        path.unlink()
        moved += 1
    return moved


def _is_newer(path: Path, name: str) -> bool:
    """Return whether a record of this machine is newer than the one in the storage. Journals never are."""
    if path.name.endswith(JOURNAL):
        return False
    here, there = _load(path), _load_stored(name)
    return here is not None and (there is None or here.end_time > there.end_time)


def _are_seconds(data: Any) -> TypeGuard[dict[str, float]]:
    return isinstance(data, dict) and all(  # JSON can hold NaN, and whole numbers that are too large
        isinstance(one, int | float) and 0 <= one <= sys.float_info.max for one in data.values()
    )


class Journal:
    """The seconds of the steps that are done, in a file, so that a run can continue after it was killed.

    The file stays after the run, so that a second record counts the seconds of the first run.
    """

    def __init__(self, name: str) -> None:
        self.name = f"{STORED}/{name}{JOURNAL}"
        self.old = old_folder() / f"{name}{JOURNAL}"
        self.seconds: dict[str, float] = self._read()

    def _read(self) -> dict[str, float]:
        for get in (partial(files.get, self.name), self.old.read_bytes):
            try:
                found = json.loads(get())
            except (OSError, ValueError, RecursionError):
                continue
            seconds = found.get("seconds") if isinstance(found, dict) else None
            return seconds if _are_seconds(seconds) else {}
        return {}

    def note(self, step: str, seconds: float) -> None:
        self.seconds[step] = round(self.seconds.get(step, 0.0) + seconds, 3)
        files.put(self.name, json.dumps({"seconds": self.seconds}, indent=1).encode())
