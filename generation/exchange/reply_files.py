"""Reading files of replies that users sent, in a child process with limits of time and memory."""

import json
import logging
import pickle
from pathlib import Path

from generation.engine.errors import BadReplies
from generation.engine.predictions.reply_records import FORMAT, ReadReplies
from generation.exchange.prediction_files import NotRead, TooSlow
from generation.exchange.replies_process import ReplyRequest
from generation.queue import sandbox

CHILD = "generation.exchange.replies_process"
SECONDS = 20  # seconds of processor time for the smallest file
BYTES_A_SECOND = 500_000  # bytes of a file for which it gets one second more
MEMORY = 1 << 30  # bytes of address space
EACH_MEMORY = 2000  # additional bytes for each question

log = logging.getLogger(__name__)


def read_file(path: Path, target: Path, *, n: int, name: str, wait: float | None = None) -> ReadReplies:
    """Read a file of replies to the `n` questions of a split, and write it packed to `target`.

    Parameters
    ----------
    path, target : Path
    n : int
    name : str
        The name of the split, for messages.
    wait : float or None
        Seconds after which the caller no longer waits; by default 20 times the limit of processor time.

    Raises
    ------
    BadReplies
        If the file cannot be read within the limits, or a record is wrong.
    NotRead
        If reading failed because of an error in this program.
    TooSlow
        If it was not read within `wait`.
    """
    seconds = SECONDS + path.stat().st_size // BYTES_A_SECOND
    wait = sandbox.LONG_PATIENCE * seconds if wait is None else wait
    given = pickle.dumps(tuple(ReplyRequest(path, target, n, name)))
    try:
        said = json.loads(sandbox.run(CHILD, given, seconds=seconds, memory=MEMORY + EACH_MEMORY * n, wait=wait))
    except sandbox.ClockRanOut as error:
        raise TooSlow(f"Expected replies that are checked within {wait:g} seconds, got more.") from error
    except sandbox.TooLong as error:
        message = f"Expected replies that are read within {seconds} seconds of processor time, got more. {FORMAT}"
        raise BadReplies(message, where=name) from error
    except sandbox.TooBig as error:
        message = f"Expected replies that are read in {MEMORY >> 20:,} MB of memory, got more. {FORMAT}"
        raise BadReplies(message, where=name) from error
    except sandbox.Broken as error:
        log.warning("The reading of a file of replies ended early: %s", error)
        message = "Expected replies or what is wrong with them, but reading ended early. The log says more."
        raise NotRead(message) from error
    if "refused" in said:
        raise BadReplies(said["refused"], where=said["where"])
    return ReadReplies(said["digest"], said["records"])
