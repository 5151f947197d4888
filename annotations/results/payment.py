"""Compares a platform's list of submissions with the participants, to find who must be paid. The list is not stored."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal
from statistics import median
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from annotations.answering import timing
from annotations.answering.participants import Person
from annotations.answering.platform_names import names_nobody
from annotations.models import Participant, Study
from annotations.results.platform_file import SHOWN, BadPlatformFile, read_seconds, read_table

COLUMNS = ("Submission id", "Participant id", "Status", "Completion code", "Time taken")
AWAITING, PAID = "AWAITING REVIEW", {"APPROVED", "REJECTED"}
DONE = {Participant.Stage.COMPLETED, Participant.Stage.COMMENT}
LEFT = {Participant.Stage.SCREENED_OUT, Participant.Stage.FULL}
ROUNDED = re.compile(r"\d+(?:[.,]\d+)?[eE]\+\d+|\d{15}0{5,}")  # long numbers after a spreadsheet read them
CENT = Decimal("0.01")


class PlatformRow(NamedTuple):
    """A row of the platform's export; `seconds` is the time taken, or None if the row has none."""

    submission: str
    person: str
    status: str
    code: str
    seconds: float | None


@dataclass
class Payment:
    """The submissions, grouped by what the researcher must do about them.

    Attributes
    ----------
    finished, no_code : list of PlatformRow
        The participant finished on this site, with or without the code on the platform; both did the work.
    to_decide : list of PlatformRow
        The participant finished, but failed so many attention items that pay may be refused.
    left : list of PlatformRow
        The participant was screened out, or no question was left for them. This includes people who came after the
        study was closed, whom only the code on the platform shows.
    unfinished : list of PlatformRow
        The participant began on this site, but did not finish.
    unknown : list of PlatformRow
        The person never came to this site.
    unclear : list of PlatformRow
        Several participants may have done the work: they have the submission's participant id or submission id.
    missing : list of Person
        Participants who finished on this site, but are not in the platform's list.
    bonuses : list of (participant's id on the platform, amount)
        Pay for the work of unfinished participants, because an approval does not pay them.
    """

    finished: list[PlatformRow] = field(default_factory=list)
    no_code: list[PlatformRow] = field(default_factory=list)
    to_decide: list[PlatformRow] = field(default_factory=list)
    left: list[PlatformRow] = field(default_factory=list)
    unfinished: list[PlatformRow] = field(default_factory=list)
    unknown: list[PlatformRow] = field(default_factory=list)
    unclear: list[PlatformRow] = field(default_factory=list)
    missing: list[Person] = field(default_factory=list)
    bonuses: list[tuple[str, Decimal]] = field(default_factory=list)

    @property
    def approve(self) -> list[str]:
        return [row.submission for row in [*self.finished, *self.no_code] if row.status == AWAITING]

    @property
    def approve_text(self) -> str:
        return "\n".join(self.approve)

    @property
    def amounts_text(self) -> str:
        return "\n".join(f"{person},{amount}" for person, amount in self.bonuses)

    @property
    def seconds(self) -> float | None:
        done = [*self.finished, *self.no_code, *self.to_decide]
        times = [row.seconds for row in done if row.seconds is not None and row.seconds >= 1]
        return median(times) if times else None

    def hourly(self, reward: Decimal) -> Decimal | None:
        return None if self.seconds is None else (reward * 3600 / Decimal(self.seconds)).quantize(CENT)

    def worth(self, hourly: Decimal) -> Decimal | None:
        return None if self.seconds is None else (hourly * Decimal(self.seconds) / 3600).quantize(CENT, ROUND_UP)


def read_export(content: bytes) -> list[PlatformRow]:
    """Return the rows of an export of Prolific; columns that are not needed are ignored.

    Raises
    ------
    BadPlatformFile
        If the file is not a CSV file, columns are missing, or a row is not valid. The message names the columns or row.
    """
    table = read_table(content, COLUMNS)
    taken = [(row, cells[-1]) for row, cells in table.rows]
    seconds = read_seconds(taken, name=COLUMNS[-1], delimiter=table.delimiter)
    return [_read(row, cells, time) for (row, cells), time in zip(table.rows, seconds, strict=True)]


def _read(row: int, cells: Sequence[str], seconds: float | None) -> PlatformRow:
    submission, person, status, code, _ = cells
    return PlatformRow(_id(submission, row=row), _id(person, row=row), status.upper(), code, seconds)


def _id(text: str, *, row: int) -> str:
    """Return an id, empty for a placeholder; refuse a long number that was rounded, because others have its digits."""
    if ROUNDED.fullmatch(text):
        raise BadPlatformFile(
            f"Expected an id in row {row}, got {text[:SHOWN]!r}: a spreadsheet rounded it. Choose the platform's own "
            "file, or import it into the spreadsheet with the ids as text.",
            where="file",
        )
    return "" if names_nobody(text) else text


def code_of(ending: str) -> str:
    if not ending.startswith("https://"):
        return ending.strip()
    return next(iter(parse_qs(urlsplit(ending).query).get("cc", [])), "")


def reconcile(study: Study, submissions: list[PlatformRow], people: list[Person]) -> Payment:
    """Return the submissions, grouped by what to do about them. Participants who used the test link are ignored.

    A submission belongs to the participant who came with its submission id. If nobody did, it belongs to the
    participant who came with its participant id, but only if exactly one participant did, because anybody can type the
    id of another person.
    """
    found = Payment()
    known = [person for person in people if not person.participant.is_test]
    by_identity: dict[str, list[Person]] = defaultdict(list)
    by_session: dict[str, list[Person]] = defaultdict(list)
    for one in known:
        by_identity[one.participant.identity].append(one)
        by_session[one.participant.session].append(one)
    seen, worked = set(), seconds_worked(study)
    for row in submissions:
        came = _whose(row, by_session, by_identity)
        if len(came) != 1:
            had_no_place = bool(row.code) and row.code == code_of(study.full)
            (found.unclear if came else found.left if had_no_place else found.unknown).append(row)
            continue
        [person] = came
        seen.add(person.participant.pk)
        stage = person.participant.stage
        if stage in DONE:
            code = code_of(person.participant.ending or study.completed)
            is_coded = bool(code) and row.code == code
            group = found.to_decide if person.may_be_refused else found.finished if is_coded else found.no_code
            group.append(row)
        elif stage in LEFT:
            found.left.append(row)
        else:
            found.unfinished.append(row)
            _add_bonus(found, study, row, worked.get(person.participant.pk, 0.0))
    found.missing = [one for one in known if one.participant.stage in DONE and one.participant.pk not in seen]
    return found


def _whose(
    row: PlatformRow, by_session: Mapping[str, list[Person]], by_identity: Mapping[str, list[Person]]
) -> list[Person]:
    """Return who may have done a submission's work: those with its submission id, else those with its participant id.

    If some of those with its submission id also have its participant id, only these are returned.
    """
    there = by_session.get(row.submission, []) if row.submission else []
    same = [one for one in there if one.participant.identity == row.person]
    return same or there or (by_identity.get(row.person, []) if row.person else [])


def _add_bonus(found: Payment, study: Study, row: PlatformRow, worked: float) -> None:
    seconds = worked if row.seconds is None else min(worked, row.seconds)
    amount = (study.hourly_pay * Decimal(seconds) / 3600).quantize(CENT, ROUND_UP)
    if amount and row.status not in PAID:
        found.bonuses.append((row.person, amount))


def seconds_worked(study: Study) -> dict[int, float]:
    return {key: time / 1000 for key, time in timing.count_time(study).people.items()}
