"""Files of predictions, and submissions made from them."""

import io
import json
import random
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from django.db.models.functions import Now

from generation.models import Split
from generation.storage.split_index import SplitIndex
from webapp.leaderboards import scoring, uploads
from webapp.leaderboards.models import Method, Submission, SubmitterApproval, Suite
from webapp.leaderboards.uploads import Order
from webapp.models import User


def approve(split: Split, account: User) -> None:
    """Let an account submit to a split whose answers are withheld."""
    state = SubmitterApproval.State.APPROVED
    SubmitterApproval.objects.create(split=split.source, account=account, state=state, decided=Now())


def truth_of(split: Split) -> list[str]:
    """Return the right answers of a split, in order."""
    index = SplitIndex.open(split)
    return [index.answer_values[code] for code in index.answers.tolist()]


def noisy(split: Split, *, wrong: float, seed: int = 0) -> list[str]:
    """Return the right answers, some of them replaced by others of the vocabulary."""
    chance, index = random.Random(seed), SplitIndex.open(split)
    words = list(index.answer_values)
    return [
        chance.choice([word for word in words if word != right]) if chance.random() < wrong else right
        for right in truth_of(split)
    ]


def as_file(answers: list[str], **more: Any) -> io.BytesIO:
    """Return predictions as a file in JSON."""
    rows = [{"question_id": number, "answer": answer} for number, answer in enumerate(answers)]
    return io.BytesIO(json.dumps(rows, **more).encode())


def as_zip(folder: Path, **files: list[str]) -> Path:
    """Return the path of a zip with a file of predictions for each split, named after the split."""
    path = folder / "predictions.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, answers in files.items():
            archive.writestr(f"{name}.json", as_file(answers).getvalue())
    return path


def suite_of(slug: str, *splits: Split) -> Suite:
    """Return a listed suite of these splits."""
    made = Suite.objects.create(slug=slug, title=slug, is_public=True)
    for ordinal, split in enumerate(splits):
        made.members.create(split=split, ordinal=ordinal, label=split.name)
    return made


def submitted(method: Method, split: Split, answers: list[str], **order: Any) -> Submission:
    """Upload predictions, score the waiting submissions, and return the submission, which may be refused."""
    received = uploads.receive(method.owner, Order(method, split, **order), as_file(answers), "predictions.json")
    [row] = received.submissions
    scoring.RUNNER.take_turn()
    row.refresh_from_db()
    return row


def refused(method: Method, split: Split, *, answered: Iterable[int]) -> Submission:
    """Upload answers to only these questions and return the submission, which was refused."""
    rows = [{"question_id": number, "answer": "yes"} for number in answered]
    file = io.BytesIO(json.dumps(rows).encode())
    [row] = uploads.receive(method.owner, Order(method, split), file, "predictions.json").submissions
    scoring.RUNNER.take_turn()
    row.refresh_from_db()
    assert row.state == Submission.State.FAILED
    return row


def right_of(split: Split, answers: list[str]) -> int:
    """Return how many answers are right, counted one by one."""
    return sum(one == other for one, other in zip(answers, truth_of(split), strict=True))


def codes_of(split: Split, answers: list[str]) -> np.ndarray[Any, Any]:
    """Return answers as codes of a split's vocabulary, -1 for answers outside it."""
    words = {word: code for code, word in enumerate(SplitIndex.open(split).answer_values)}
    return np.array([words.get(answer, -1) for answer in answers], np.int32)
