"""The file of replies: a line for each attempt, on the disk before the next question is asked."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from generation.asking.console import SECRETS, Refused
from generation.asking.digests import as_json
from generation.asking.model_server.model_reply import ANSWERED, FAILED, REFUSED, STATES


class Kept(NamedTuple):
    state: str
    reply: str | None
    error: str | None = None  # or the reason of a refusal


NESTED = ("reasoning", "usage")
REPLIED = ("reply", "reasoning", "finish_reason", "usage", "served_model", "error")  # fields that a server determines


def flat(value: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: one for name, one in (value or {}).items() if not isinstance(one, (dict, list))}


def lock(file: BinaryIO, path: Path) -> None:
    """Raise `Refused` if another process has the file; some systems and file systems have no locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Refused(
            f"Expected {path} for this run alone, got a file that another run is writing: wait for its end, or use "
            "another --folder."
        ) from error
    except (ImportError, OSError):
        return


class StoredReply(NamedTuple):
    """A stored line. `name` says which request it is about.

    The line of a request that the server refused is unsure until a reply follows: all requests may have been refused.
    """

    name: tuple[int, str]
    kept: Kept
    model: str
    is_unsure: bool


def stored_reply(line: bytes) -> StoredReply:
    """Return the reply in a stored line; raise an error if a field is missing or wrong."""
    row = json.loads(line)
    number, key, state, reply = (row[name] for name in ("question", "key", "state", "reply"))
    is_text = isinstance(reply, str) or (reply is None and state != ANSWERED)
    if type(number) is not int or not isinstance(key, str) or state not in STATES or not is_text:
        raise ValueError("a field has another form")
    error, status = row.get("error"), row.get("status")
    is_unsure = state == REFUSED and status != 200 and status is not None
    kept = Kept(state, reply, error if isinstance(error, str) else None)
    return StoredReply((number, key), kept, str(row.get("model")), is_unsure)


class ReplyLog:
    """The file with a line for each attempt. `add` returns when the line is safe on the disk."""

    def __init__(self, path: Path) -> None:
        self.done: dict[tuple[int, str], Kept] = {}
        self.answering: set[str] = set()  # the models that have answered a question
        self.unsure: dict[tuple[int, str], Kept] = {}
        self.file = path.open("ab")
        try:
            lock(self.file, path)
            self._load(path)
        except Refused:
            self.file.close()
            raise
        self.writing, self.syncing = threading.Lock(), threading.Lock()
        self.written = self.synced = 0

    def _load(self, path: Path) -> None:
        """Read earlier attempts; an incomplete last line, which a killed script leaves, is removed."""
        good = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                good += len(line)
                self._note(line, f"{path}, line {number}")
        if good < path.stat().st_size:
            os.truncate(path, good)

    def _note(self, line: bytes, where: str) -> None:
        try:
            found = stored_reply(line)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Refused(
                f"Expected a stored reply in {where}, got something else: delete this line, or use another --folder."
            ) from error
        if found.is_unsure:
            self.unsure[found.name] = found.kept
        elif found.kept.state != FAILED:
            self.done.update({**self.unsure, found.name: found.kept})
            self.unsure.clear()
            self.answering.add(found.model)

    def add(self, record: Mapping[str, Any]) -> None:
        replied = {name: record[name] for name in REPLIED}  # elsewhere, as in digests, parts of a key occur by chance
        try:
            line = as_json({**record, **SECRETS.value(replied)}) + b"\n"
        except RecursionError:  # a server may nest its fields as deep as it likes
            flattened = {name: flat(record[name]) for name in NESTED}
            line = as_json({**record, **SECRETS.value({**replied, **flattened})}) + b"\n"
        with self.writing:
            self.file.write(line)
            self.written += 1
            mine = self.written
        with self.syncing:  # one call of fsync serves all lines that were written meanwhile
            if self.synced < mine:
                with self.writing:
                    self.file.flush()
                    written = self.written
                os.fsync(self.file.fileno())
                self.synced = written

    def close(self) -> None:
        self.file.close()
