"""The child process that reads one file of replies. It reads a pickled request and writes a line of JSON."""

import json
import pickle
import sys
from pathlib import Path
from typing import NamedTuple

from generation.engine.errors import BadReplies
from generation.engine.predictions.reply_records import read_replies


class ReplyRequest(NamedTuple):
    path: Path
    target: Path  # where the packed file is written
    n: int  # questions of the split
    name: str  # of the split


def answer(request: ReplyRequest) -> dict[str, object]:
    try:
        with request.path.open("rb") as file:
            found = read_replies(file, request.target, n=request.n, where=request.name)
    except BadReplies as error:
        return {"refused": error.reason, "where": error.where}
    return found._asdict()


def main() -> None:
    request = ReplyRequest(*pickle.load(sys.stdin.buffer))  # noqa: S301 - the parent process wrote it
    sys.stdout.buffer.write(json.dumps(answer(request)).encode())


if __name__ == "__main__":
    main()
