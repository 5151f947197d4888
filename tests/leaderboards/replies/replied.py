"""Replies of a model, and submissions that carry them."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from generation.models import Split
from tests.engine.predictions.test_reply_records import record
from tests.leaderboards import sent
from webapp.leaderboards import scoring, uploads
from webapp.leaderboards.models import Method, Submission
from webapp.leaderboards.uploads import Order

INCOMPLETE = {3: "failed", 4: "cut off", 5: "refused", 6: "empty"}


def records_of(split: Split, *, incomplete: Mapping[int, str] = INCOMPLETE, **more: Any) -> list[dict[str, Any]]:
    """Return a record for each question of a split; the state of most is `answered`."""
    found = []
    for at in range(split.questions):
        state = incomplete.get(at, "answered")
        usage = {"prompt_tokens": 100, "completion_tokens": at % 10}
        figures = {"usage": usage, "cost": 0.001, "latency": 0.25 + at % 3}
        if state == "failed":
            figures = {"usage": None, "cost": None, "latency": 30.0}
        found.append(record(at, state) | figures | more)
    return found


def as_file(records: Sequence[Any]) -> io.BytesIO:
    return io.BytesIO("".join(json.dumps(one) + "\n" for one in records).encode())


def answers_of(split: Split, *, incomplete: Mapping[int, str] = INCOMPLETE, wrong: float = 0.4) -> list[Any]:
    """Return answers, with null for the questions whose reply is not complete."""
    return [None if at in incomplete else one for at, one in enumerate(sent.noisy(split, wrong=wrong))]


def submit(method: Method, split: Split, answers: list[Any], records: Sequence[Any], **order: Any) -> Submission:
    """Upload predictions with replies, score them, and return the submission, which may be refused."""
    [row] = uploads.receive(
        method.owner, Order(method, split, **order), sent.as_file(answers), "a.json", replies=as_file(records)
    ).submissions
    scoring.RUNNER.take_turn()
    row.refresh_from_db()
    return row
