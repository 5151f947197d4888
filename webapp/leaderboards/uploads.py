"""Accepts uploads of predictions: checks them, stores their files completely, and then inserts their rows.

A file is on the disk before its row is in the database, and the row before the sender gets an answer. Housekeeping
deletes files without a row, for example after a crash.
"""

import hashlib
import itertools
import os
import secrets
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.utils import timezone

from generation.access import What, may_see
from generation.engine.errors import BadReplies
from generation.engine.predictions import BadPredictions, UploadedMember
from generation.engine.predictions import members as carried
from generation.engine.predictions.decompression import GZIP, room
from generation.engine.predictions.packed_predictions import PackedPredictions
from generation.engine.scoring.score import OUTSIDE
from generation.exchange import prediction_files
from generation.models import Split
from generation.reports.scoring import expected_of
from generation.storage import files, storage_quotas
from webapp.leaderboards.disclosure import limits, submitter_approvals
from webapp.leaderboards.models import Method, Submission, Suite, SuiteMember, Training
from webapp.leaderboards.replies import coverage, stored_replies
from webapp.leaderboards.suites import members_for

FOLDER = "submissions"
LARGEST = 100_000_000  # bytes of an upload
PIECE = 1024**2
LONGEST_SHOWN = 80  # characters of an answer that a page shows
NAMED = 5  # files that a message names
LONGEST_KEY = LONGEST_COLUMN = 200  # characters
SMALL = 1 << 16  # bytes
LARGEST_NUMBER = 10**15
LONGEST_CHECK = 20.0  # seconds that a page waits for a file to be checked
MOST_CHECKS = 2  # files that a web process checks at the same time, so that other threads can answer pages
RETRY = 5  # seconds
NAMES = {"file": "predictions", "replies": "replies"}
_CHECKS = threading.BoundedSemaphore(MOST_CHECKS)


class UploadRefused(Exception):
    """An upload is refused.

    Attributes
    ----------
    status : int
        The HTTP status.
    code : str
        For programs: one or two words with underscores.
    message : str
        For users.
    details : dict
    """

    def __init__(self, status: int, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.details = status, code, message, details


class Order(NamedTuple):
    """A submission without its file: the method, the target, and the declared metadata."""

    method: Method
    target: Split | Suite
    run: str = ""
    trained_on: Split | None = None
    train_size: int | None = None
    examples_seen: int | None = None
    fingerprint: str = ""
    key: str = ""
    note: str = ""
    column: str = ""
    training: Training | None = None


class StoredUpload(NamedTuple):
    name: str  # in the storage
    size: int
    digest: str


NO_UPLOAD = StoredUpload("", 0, "")


class UploadResult(NamedTuple):
    submissions: list[Submission]  # one for each split
    is_repeat: bool  # they existed before


class UploadedFile(NamedTuple):
    """A file of an upload, its split, and its size in bytes."""

    split: Split
    name: str
    file: BinaryIO
    size: int


def receive(user: Any, order: Order, file: BinaryIO, filename: str, *, replies: BinaryIO | None = None) -> UploadResult:
    """Store an upload, to be scored in the background.

    Parameters
    ----------
    user : account
    order : Order
    file : binary file
        Read from its current position; a file with predictions for a whole suite must be seekable.
    filename : str
        The name of the file at the sender.
    replies : binary file or None
        The replies that the predictions were read from; only for a split.

    Raises
    ------
    UploadRefused
        If the upload is refused; nothing of it is kept then.
    """
    check(user, order)
    _check_replies(order, replies)
    before = _repeated(user, order)
    if before:
        return UploadResult(before, True)
    for split in targets(user, order):
        check_limits(user, split)  # before anything is written; `_insert` checks again under a lock
    parts = parts_of(user, order, file, filename)
    check_storage(user, sum(part.size for part in parts) + (0 if replies is None else _size_of(replies)))
    kept: list[StoredUpload] = []
    try:
        for one in [*(part.file for part in parts), *([] if replies is None else [replies])]:
            kept.append(_keep(one))  # noqa: PERF401 - if one is refused, the earlier ones are dropped
        with transaction.atomic():
            made = _insert(user, order, parts, kept)
    except IntegrityError as error:  # another request has just used the same key
        _drop(kept)
        before = _repeated(user, order)
        if not before:
            raise UploadRefused(409, "conflict", "Expected a new submission, got one that was just made.") from error
        return UploadResult(before, True)
    except BaseException:
        _drop(kept)
        raise
    return UploadResult(made, False)


class CheckedUpload(NamedTuple):
    """The result of checking a file without submitting it; it does not say which answers are right.

    Attributes
    ----------
    split : Split
    n : int
        The number of answers.
    format : str
    outside, unreadable : int
        Answers outside the vocabulary, and those of them from which no answer can be extracted.
    examples : list of (question, text)
        The first answers outside the vocabulary.
    failures : int
        Answers that are failures of the runner that wrote the file.
    unanswered : dict of str to int
        The questions without an answer, by state.
    replies : int or None
        The number of records of replies; None without replies.
    """

    split: Split
    n: int
    format: str
    outside: int
    unreadable: int
    examples: list[tuple[int, str]]
    failures: int
    unanswered: dict[str, int]
    replies: int | None = None


def check_upload(
    user: Any, order: Order, file: BinaryIO, filename: str, *, replies: BinaryIO | None = None
) -> list[CheckedUpload]:
    """Check an upload without storing it; raise `UploadRefused` if it would be refused.

    The check takes at most `LONGEST_CHECK` seconds, and only few files are checked at the same time.
    """
    check(user, order)
    _check_replies(order, replies)
    parts = parts_of(user, order, file, filename)
    if not _CHECKS.acquire(blocking=False):
        message = (
            f"Expected fewer than {MOST_CHECKS} files being checked now, got {MOST_CHECKS}. Try again in a moment."
        )
        raise UploadRefused(503, "busy", message, retry_after=RETRY)
    try:
        until = time.monotonic() + LONGEST_CHECK
        return [_checked(user, part, replies, column=order.column, until=until) for part in parts]
    finally:
        _CHECKS.release()


def _checked(user: Any, part: UploadedFile, replies: BinaryIO | None, *, column: str, until: float) -> CheckedUpload:
    """Return the result of checking one file, and its replies, with the limits of a submission."""
    limits.note_attempt(user, part.split)
    try:
        with prediction_files.copy_on_disk(part.file) as path:
            wait = _left(until)
            expected = expected_of(part.split)
            content, written_as = prediction_files.read_file(path, expected, column=column, wait=wait)
        found = PackedPredictions(content, has_boxes=False)
        with _draft_of(replies, part.split, until=until) as draft:
            packed = None if draft is None else draft.packed
            states = coverage.answer_states(found, packed, where=str(part.split))
        coverage.check_coverage(states, part.split, coverage.least_coverage(part.split))
    except BadPredictions as error:
        if error.columns:
            raise UploadRefused(
                422, "unclear_column", str(error), field="column", columns=error.columns, findings=error.findings
            ) from error
        field = "replies" if isinstance(error, BadReplies) else "file"
        raise UploadRefused(422, f"bad_{NAMES[field]}", str(error), field=field, findings=error.findings) from error
    except prediction_files.TooSlow as error:
        message = f"{error} Submit the file instead: a background process then reads it and reports its errors."
        raise UploadRefused(422, "too_slow", message, field="file") from error
    except prediction_files.NotRead as error:
        raise UploadRefused(503, "not_read", str(error), retry_after=RETRY) from error
    outside = found.outside
    unreadable = int((found.read == OUTSIDE).sum())
    examples = [(at, text[:LONGEST_SHOWN]) for at, text in itertools.islice(outside.items(), NAMED)]
    return CheckedUpload(
        part.split,
        len(found.codes),
        written_as,
        len(outside),
        unreadable,
        examples,
        states.failures,
        dict(states.unanswered),
        None if draft is None else draft.records,
    )


def _left(until: float) -> float:
    return max(0.1, until - time.monotonic())


@contextmanager
def _draft_of(replies: BinaryIO | None, split: Split, *, until: float) -> Iterator[stored_replies.DraftReplies | None]:
    if replies is None:
        yield None
        return
    with (
        prediction_files.copy_on_disk(replies) as path,
        stored_replies.draft_of(path, split, wait=_left(until)) as draft,
    ):
        yield draft


def _check_replies(order: Order, replies: BinaryIO | None) -> None:
    """Raise `UploadRefused` if replies come with predictions for a suite."""
    if replies is not None and not isinstance(order.target, Split):
        message = (
            "Expected replies only with predictions for one split, got them with a suite. Submit each split alone."
        )
        raise UploadRefused(422, "bad_replies", message, field="replies")


def check(user: Any, order: Order) -> None:
    """Raise `UploadRefused` if an order is not valid or not allowed for this account."""
    if order.method.owner_id != user.pk:
        raise UploadRefused(
            404, "no_method", "Expected one of your methods, got none or one of another account.", field="method"
        )
    for split in targets(user, order):
        if not may_see(user, split, What.QUESTION):
            raise UploadRefused(404, "no_split", "There is no such split, or you may not see it.", field="split")
        if not submitter_approvals.may_submit(user, split):
            raise UploadRefused(403, "not_approved", submitter_approvals.reason_for(user, split), field="split")
        if not split.is_complete:
            state = split.get_state_display()
            raise UploadRefused(409, "not_complete", f"Expected a complete split, got {split}, whose state is {state}.")
    _check_fingerprint(order)
    _check_words(order)
    trained_on = order.trained_on
    if trained_on is not None and not may_see(user, trained_on, What.QUESTION):
        raise UploadRefused(404, "no_split", "There is no such training split, or you may not see it.")
    for name in ("train_size", "examples_seen"):
        number = getattr(order, name)
        if number is not None and not 0 < number <= LARGEST_NUMBER:
            message = f"Expected a whole number from 1 to {LARGEST_NUMBER:,}, got {number:,}."
            raise UploadRefused(422, "bad_number", message, field=name)


def targets(user: Any, order: Order) -> list[Split]:
    if isinstance(order.target, Split):
        return [order.target]
    return [member.split for member in members_for(user, order.target)[1]]


def _check_fingerprint(order: Order) -> None:
    if not order.fingerprint:
        return
    if not isinstance(order.target, Split):
        raise UploadRefused(
            422, "bad_fingerprint", "Expected no content hash with a suite, got one.", field="fingerprint"
        )
    if order.fingerprint.strip().lower() != order.target.fingerprint:
        message = (
            f"Expected the content hash {order.target.fingerprint} of {order.target}, got "
            f"{order.fingerprint[:80]!r}: the predictions are for another version. Download the questions again."
        )
        raise UploadRefused(409, "other_fingerprint", message, field="fingerprint")


def _check_words(order: Order) -> None:
    longest = {"run": 60, "note": 500, "key": LONGEST_KEY, "column": LONGEST_COLUMN}
    for name, most in longest.items():
        text = getattr(order, name)
        if len(text) > most or not text.isprintable():
            raise UploadRefused(
                422,
                "bad_text",
                f"Expected at most {most} printable characters, got a longer text or other characters.",
                field=name,
            )


def _repeated(user: Any, order: Order) -> list[Submission]:
    """Return the submissions with the same key; raise `UploadRefused` if they are for something else."""
    if not order.key:
        return []
    rows = Submission.objects.filter(method__owner=user, key=order.key).select_related("method", "split__dataset")
    found = list(rows.order_by("pk"))
    wanted = {split.pk for split in targets(user, order)}
    if any(row.method_id != order.method.pk or row.split_id not in wanted for row in found):
        message = "Expected a new Idempotency-Key for a new submission, got the key of another submission."
        raise UploadRefused(422, "key_reused", message, field="Idempotency-Key")
    return found


def parts_of(user: Any, order: Order, file: BinaryIO, filename: str) -> list[UploadedFile]:
    if isinstance(order.target, Split):
        return [UploadedFile(order.target, filename, file, _size_of(file))]
    return _matched(user, order.target, file)


def _matched(user: Any, suite: Suite, file: BinaryIO) -> list[UploadedFile]:
    """Return the files of a zip with the members of a suite that they are named after."""
    members = members_for(user, suite)[1]
    found, unknown = [], []
    for one in _carried(file):
        name = one.name.rpartition("/")[2].partition(".")[0].lower()
        meant = [member for member in members if name == member.label.lower()]
        meant = meant or [member for member in members if name in names_of(member)]
        if len(meant) == 1:
            _check_size(one, meant[0].split)
            found.append(UploadedFile(meant[0].split, one.name, one.open(), one.size))
        else:
            unknown.append(one.name or "a file that isn't a zip")
    wanted = ", ".join(sorted(names_of(member))[0] for member in members)
    if unknown or not found:
        got = ", ".join(unknown[:NAMED]) or "nothing"
        message = f"Expected a zip with files named after the suite's splits ({wanted}), got {got}."
        raise UploadRefused(422, "bad_suite_file", message, field="file")
    if len({part.split.pk for part in found}) < len(found):
        raise UploadRefused(
            422, "bad_suite_file", "Expected one file for each split, got two for the same split.", field="file"
        )
    return found


def _size_of(file: BinaryIO) -> int:
    """Return the number of bytes from the current position to the end of a file."""
    at = file.tell()
    size = file.seek(0, os.SEEK_END) - at
    file.seek(at)
    return size


def check_storage(user: Any, size: int) -> None:
    """Raise `UploadRefused` if the disk is nearly full, or the account has no room for so many bytes."""
    shortage = files.disk_shortage()
    if shortage:
        raise UploadRefused(503, "disk_full", shortage, retry_after=RETRY)
    try:
        storage_quotas.check(user, size)
    except storage_quotas.AccountFull as error:
        raise UploadRefused(413, "account_full", str(error), field="file") from error


def _carried(file: BinaryIO) -> list[UploadedMember]:
    """Return the files of a zip; raise `UploadRefused` if it can't be read."""
    try:
        return carried(file)
    except BadPredictions as error:
        raise UploadRefused(422, "bad_suite_file", str(error), field="file") from error


def _check_size(one: UploadedMember, split: Split) -> None:
    """Raise `UploadRefused` if a file unpacks to far more bytes than answers to a split's questions need."""
    has_boxes = split.dataset.get_world().most_counted is not None
    most = min(LARGEST, room(split.questions, one.packed, has_boxes=has_boxes))
    with one.open() as file:
        if file.read(len(GZIP)) == GZIP:  # packed twice: a gzip file hardly gets smaller in a zip
            most = SMALL + 2 * one.packed
    if one.size > most:
        message = (
            f"Expected at most {most:,} bytes in {one.name[:60]!r}, got {one.size:,}. Compress the file only once."
        )
        raise UploadRefused(413, "too_large", message, field="file")


def names_of(member: SuiteMember) -> list[str]:
    split = member.split
    return [split.name.lower(), f"{split.dataset.slug}-{split.name}".lower(), member.label.lower()]


def _keep(file: BinaryIO) -> StoredUpload:
    """Store a file completely, synced to disk; raise `UploadRefused` if it is too large."""
    name = f"{FOLDER}/{secrets.token_hex(16)}"
    size, digest = 0, hashlib.sha256()
    path = _drafts() / files.draft_name("upload")
    try:
        with path.open("xb") as draft:
            while piece := file.read(PIECE):
                size += len(piece)
                if size > LARGEST:
                    message = f"Expected at most {LARGEST // 10**6} MB, got more. Compress the file with gzip."
                    raise UploadRefused(413, "too_large", message)
                digest.update(piece)
                draft.write(piece)
            draft.flush()
            os.fsync(draft.fileno())
        files.adopt(name, path)
    finally:
        path.unlink(missing_ok=True)
    return StoredUpload(name, size, digest.hexdigest())


def _drafts() -> Path:
    # Incomplete uploads are on the same disk as the finished ones, if these are stored locally.
    folder = files.local_path(FOLDER) or Path(tempfile.gettempdir())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _insert(user: Any, order: Order, parts: Sequence[UploadedFile], kept: Sequence[StoredUpload]) -> list[Submission]:
    """Insert the rows after checking the limits of each split under a lock."""
    batch = uuid.uuid4() if len(parts) > 1 else None
    sources = sorted({part.split.source.pk for part in parts})
    list(Split.objects.select_for_update().filter(pk__in=sources).order_by("pk").values_list("pk"))
    list(get_user_model().objects.select_for_update().filter(pk=user.pk).values_list("pk"))
    check_storage(user, sum(file.size for file in kept))  # again, because other uploads may have come at the same time
    made = []
    replies = kept[len(parts)] if len(kept) > len(parts) else NO_UPLOAD
    for part, file in zip(parts, kept, strict=False):
        check_limits(user, part.split)
        limits.note_attempt(user, part.split)
        made.append(
            Submission.objects.create(
                method=order.method,
                split=part.split,
                run=order.run,
                trained_on=order.trained_on,
                train_size=order.train_size,
                examples_seen=order.examples_seen,
                key=order.key,
                note=order.note,
                column=order.column,
                training=order.training,
                batch=batch,
                file=file.name,
                filename=_plain(part.name),
                digest=file.digest,
                size=file.size,
                replies_file=replies.name,
                replies_size=replies.size,
            )
        )
    return made


def check_limits(user: Any, split: Split) -> None:
    """Raise `UploadRefused` if the account may not submit to a split now."""
    left = limits.remaining(user, split)
    if left.is_open:
        return
    next_at = left.next_at.isoformat() if left.next_at is not None else None
    if left.scores == 0:
        what = f"{limits.SCORED} scores a day on {split}, whose answers are withheld"
    elif left.shared == 0:
        what = (
            f"{limits.shared_limit(split)} scores a day of all accounts together on {split}, whose answers are withheld"
        )
    else:
        what = f"{limits.ATTEMPTS} files a day for {split}, whose answers are withheld"
    when = (
        f"You can submit again at {left.next_at:%Y-%m-%d %H:%M} UTC."
        if left.next_at
        else "Some are still being scored."
    )
    retry = max(1, int((left.next_at - timezone.now()).total_seconds())) if left.next_at else 60
    message = f"Expected at most {what}, got one more. {when}"
    raise UploadRefused(429, "limit_reached", message, next_at=next_at, retry_after=retry)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.replace("\\", "/").rpartition("/")[2] if letter.isprintable())[-200:]


def _drop(kept: Sequence[StoredUpload]) -> None:
    for file in kept:
        files.drop(file.name)
