"""The result of a verification: what was proved of a dataset, what is wrong, and what cannot be checked."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from generation.engine.verification.proof import CHECKS, Flaw, Proof

MOST = 1000  # findings that are kept for each check of a split; the rest is counted


class Finding(NamedTuple):
    """A fault: its place, the check, what was expected and what was found.

    `split` is empty for a fault of the dataset as a whole. `scene` and `question` are 0-based positions in the split,
    or None.
    """

    split: str
    check: str
    expected: str
    came: str
    scene: int | None = None
    question: int | None = None

    def __str__(self) -> str:
        places = [self.split] if self.split else []
        places += [f"scene {self.scene}"] if self.scene is not None else []
        places += [f"question {self.question}"] if self.question is not None else []
        return f"{', '.join([*places, self.check])}: expected {self.expected}; got {self.came}"


@dataclass(frozen=True)
class Proved:
    """How many things of a split (scenes, questions, ...) passed a check."""

    split: str
    check: str
    count: int
    unit: str


@dataclass(frozen=True)
class Unproved:
    """What cannot be checked in a split, in words, and how often."""

    split: str
    what: str
    count: int


@dataclass(frozen=True)
class KnownFault:
    """A known fault of published data, in words, and how often it occurs in a split."""

    split: str
    what: str
    count: int


@dataclass(frozen=True)
class CountNote:
    """A count of a split that is neither right nor wrong."""

    split: str
    what: str


def outdated_checks(since: Mapping[str, int], engine_version: str) -> frozenset[str]:
    """Return the checks that do not fit a dataset: later engines than the one that made it changed their rules.

    Parameters
    ----------
    since : mapping of str to int
        `World.checks_since`.
    engine_version : str
        The engine that made the dataset.
    """
    if not re.fullmatch(r"[0-9]{1,4}", engine_version):
        return frozenset()
    return frozenset(check for check, first in since.items() if int(engine_version) < first)


class Verdict:
    """The collected results of a verification.

    Parameters
    ----------
    outdated : collection of str
        Checks that do not fit the dataset. Their results are left out; those that were made are named once.
    engine_version : str
        The engine that made the dataset.
    """

    def __init__(self, *, outdated: Collection[str] = (), engine_version: str = "") -> None:
        self.outdated, self.engine_version = outdated, engine_version
        self._left_out_checks: set[str] = set()
        self.findings: list[Finding] = []
        self.notes: list[CountNote] = []
        self.left_out = 0
        self._proved: Counter[tuple[str, str, str]] = Counter()
        self._open: Counter[tuple[str, str]] = Counter()
        self._known: Counter[tuple[str, str]] = Counter()
        self._kept: Counter[tuple[str, str]] = Counter()

    def find(self, finding: Finding) -> None:
        """Add a fault."""
        if self._is_outdated(finding.check):
            return
        self._kept[finding.split, finding.check] += 1
        if self._kept[finding.split, finding.check] > MOST:
            self.left_out += 1
        else:
            self.findings.append(finding)

    def find_all(self, findings: Iterable[Finding]) -> None:
        """Add several faults."""
        for finding in findings:
            self.find(finding)

    def prove(self, split: str, check: str, count: int = 1, *, unit: str) -> None:
        """Add `count` things that passed a check."""
        if count and not self._is_outdated(check):
            self._proved[split, check, unit] += count

    def _is_outdated(self, check: str) -> bool:
        """Return whether the results of a check that was made are left out."""
        if check in self.outdated:
            self._left_out_checks.add(check)
            return True
        return False

    def same(self, split: str, check: str, expected: Any, came: Any, *, unit: str, what: str = "") -> bool:
        """Return whether two values are equal, and add the result."""
        if expected == came:
            self.prove(split, check, unit=unit)
        else:
            self.find(Finding(split, check, f"{what}{expected}", str(came)))
        return bool(expected == came)

    def take(self, split: str, proof: Proof) -> None:
        """Add what a proof proved and left open. Its flaws are added separately."""
        for (check, unit), count in proof.proved.items():
            self.prove(split, check, count, unit=unit)
        for what, count in proof.open.items():
            self.leave(split, what, count)
        for what, count in proof.known.items():
            self._known[split, what] += count

    def leave(self, split: str, what: str, count: int = 1) -> None:
        """Add something that cannot be checked."""
        self._open[split, what] += count

    def note(self, split: str, what: str) -> None:
        """Add a count."""
        self.notes.append(CountNote(split, what))

    @property
    def holds(self) -> bool:
        """Return whether no fault was found."""
        return not self.findings

    @property
    def proved(self) -> list[Proved]:
        """Return what was proved, by split in order of appearance, then in the order of `CHECKS`."""
        order = list(CHECKS)
        splits = list(dict.fromkeys(split for split, _, _ in self._proved))
        rows = [Proved(split, check, count, unit) for (split, check, unit), count in self._proved.items()]
        return sorted(rows, key=lambda row: (splits.index(row.split), order.index(row.check), row.unit))

    @property
    def open(self) -> list[Unproved]:
        """Return what could not be checked."""
        names = "; ".join(says for check, says in CHECKS.items() if check in self._left_out_checks)
        made_by = f"engine {self.engine_version}, which made the dataset"
        what = f"checks by rules that later engines than {made_by}, have changed: {names}"
        rows = [Unproved("", what, len(self._left_out_checks))] if names else []
        return rows + [Unproved(split, what, count) for (split, what), count in self._open.items()]

    @property
    def known(self) -> list[KnownFault]:
        """Return the known faults."""
        return [KnownFault(split, what, count) for (split, what), count in self._known.items()]

    def to_json(self) -> dict[str, Any]:
        """Return the whole verdict as JSON."""
        return {
            "ok": self.holds,
            "proved": [{**asdict(row), "says": CHECKS[row.check]} for row in self.proved],
            "open": [asdict(row) for row in self.open],
            "known": [asdict(row) for row in self.known],
            "notes": [asdict(note) for note in self.notes],
            "findings": [finding._asdict() for finding in self.findings],
            "findings_left_out": self.left_out,
        }

    def lines(self) -> Iterator[str]:
        """Yield lines for users with what was proved and what was not."""
        for check, says in CHECKS.items():
            rows = [row for row in self.proved if row.check == check]
            if rows:
                yield f"  {says}: {_counts(rows)}"
        if self.open:
            yield "Not proved:"
            for row in self.open:
                where = f"{row.split}: " if row.split else ""
                yield f"  {where}{row.what} ({row.count:,})"
        if self.known:
            yield "Known faults of the published data:"
            for known in self.known:
                yield f"  {known.split}: {known.what} ({known.count:,})"
        if self.notes:
            yield "Counted:"
            for note in self.notes:
                yield f"  {note.split}: {note.what}"


def _counts(rows: Sequence[Proved]) -> str:
    """Return the counts of all splits together, by unit: `60 scenes, 600 questions`."""
    totals: Counter[str] = Counter()
    for row in rows:
        totals[row.unit] += row.count
    return ", ".join(f"{count:,} {unit}" for unit, count in totals.items())


def of_item(split: str, flaws: Iterable[Flaw], *, scene: int, questions: Sequence[int]) -> Iterator[Finding]:
    """Yield an item's flaws as findings; `questions` are the positions of its questions in the split."""
    for flaw in flaws:
        question = None if flaw.question is None else questions[flaw.question]
        yield Finding(split, flaw.check, flaw.expected, flaw.came, scene, question)
