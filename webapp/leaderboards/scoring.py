"""Background scoring: reads and checks a submission's file, or makes a baseline's guesses, and scores the answers.

Predictions are stored as codes of the split's vocabulary in question order, in a file named by its digest. The file
never changes, so scores and slices can be computed again at any time. A claimed submission ends as done with its
scores, or as failed with a message. If its process dies, it is tried again.
"""

import functools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from generation.access import is_withheld
from generation.engine.items import Column
from generation.engine.predictions import BadPredictions
from generation.engine.predictions.findings import NAMED
from generation.engine.predictions.packed_predictions import PackedPredictions
from generation.engine.scoring.score import OUTSIDE, score
from generation.exchange import prediction_files
from generation.models import Split
from generation.queue import graceful_shutdown, leases, runner
from generation.queue.transient_errors import find_outage
from generation.reports.scoring import expected_of, slicing_of, truth_of
from generation.storage import files
from generation.storage.split_index import SplitIndex
from webapp.leaderboards import baselines, deletion
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.models import Score, Submission
from webapp.leaderboards.replies import stored_replies
from webapp.leaderboards.replies.coverage import (
    AnswerStates,
    answer_states,
    check_coverage,
    least_coverage,
    states_of,
    usage_fields,
)
from webapp.leaderboards.stored_predictions import FOLDER, load, pack_all, store

LONGEST = 3600.0  # seconds that scoring a submission may take
PAUSE = 0.5  # seconds between two checks whether another process has scored a submission
AT_ONCE = 20  # splits whose missing scores a sweep adds


# Scoring a submission


def _score_or_refuse(submission: Submission, lease: leases.Lease) -> None:
    try:
        _score(submission, lease)
    except BadPredictions as error:
        if find_outage(error) is not None:  # the storage failed, so the content of the file is not known
            raise
        _refuse(submission, error)


def _score(submission: Submission, lease: leases.Lease) -> None:
    content, written_as = _predictions(submission, lease)
    lease.check()
    found = PackedPredictions(content)
    with _replies(submission) as draft:
        lease.check()
        states = answer_states(found, None if draft is None else draft.packed, where=str(submission.split))
        if not submission.method.baseline:
            check_coverage(states, submission.split, least_coverage(submission.split))
        digest, kept = store(content), len(content)
        if draft is not None:
            kept += stored_replies.store(draft)
    splits = [submission.split, *submission.split.derived.filter(state=Split.State.COMPLETE)]
    scores = [score_on(submission, split, found.codes, found.read, states) for split in splits]
    with transaction.atomic():
        if is_withheld(submission.split):
            disclosure_budget.lock(submission.split)
        Submission.objects.held(submission).update(
            predictions=digest,
            replies="" if draft is None else draft.digest,
            kept=kept,
            outside=len(found.outside),
            failures=states.failures,
            format=written_as,
            file="",
            replies_file="",
        )
        leases.finish(submission)
        Score.objects.bulk_create(scores)
        if is_withheld(submission.split):
            disclosure_budget.disclose(submission, scores[0], found.codes)
    _drop_uploads(submission)


@contextmanager
def _replies(submission: Submission) -> Iterator[stored_replies.DraftReplies | None]:
    """Give the replies that came with a submission, read but not stored yet; None if it has none."""
    if not submission.replies_file:
        yield None
        return
    with (
        files.on_disk(submission.replies_file) as path,
        stored_replies.draft_of(path, submission.split) as draft,
    ):
        yield draft


def _drop_uploads(submission: Submission) -> None:
    files.drop(submission.file)
    files.drop(submission.replies_file)


def _predictions(submission: Submission, lease: leases.Lease) -> prediction_files.ReadFile:
    """Return the packed predictions of a submission and the format of its file."""
    if submission.method.baseline:
        check = functools.partial(_let_others_go_first, submission, lease)
        found = baselines.predictions(submission.method.baseline, submission.split, check=check)
        return prediction_files.ReadFile(pack_all(found), found.format)
    with files.on_disk(submission.file) as path:
        return prediction_files.read_file(path, expected_of(submission.split), column=submission.column)


def _let_others_go_first(submission: Submission, lease: leases.Lease) -> None:
    """Score more urgent submissions in between, and extend the lease of this one."""
    lease.check()
    while (urgent := RUNNER.claim_first(RUNNER.rows.claimable().filter(priority__gt=submission.priority))) is not None:
        RUNNER.run(urgent)
        leases.prolong(submission, seconds=LONGEST)


def _refuse(submission: Submission, error: BadPredictions) -> None:
    """Store why a file is refused, with the complete list of problems, and delete the file."""
    lines = list(error.findings.lines()) if error.findings is not None else []
    name = f"{FOLDER}/findings-{submission.pk}.txt" if len(lines) > NAMED else ""
    if name:
        files.put(name, "\n".join([*lines, ""]).encode())
    with transaction.atomic():
        Submission.objects.held(submission).update(findings=name, file="", replies_file="")
        refused = leases.fail(submission, message=str(error))
    if refused:
        _drop_uploads(submission)


# The score on a split


def score_on(
    submission: Submission,
    split: Split,
    codes: NDArray[np.int32],
    read: NDArray[np.int32],
    states: AnswerStates | None = None,
) -> Score:
    """Return the score of a submission's codes on its split or on a question set derived from it.

    `states` says which questions have an answer; by default, the stored files of the submission say so.
    """
    index, states = SplitIndex.open(split), states or states_of(submission)
    mine, is_answered, figures = (codes, read), states.is_answered, states.figures
    if split.pk != submission.split_id:
        assert index.positions is not None  # it is a question set
        mine, is_answered = (codes[index.positions], read[index.positions]), is_answered[index.positions]
        figures = None if figures is None else figures.among(index.positions)
    truth = truth_of(index)
    columns = split.dataset.get_world().columns(split.read_spec())
    names = {column.facet for column in columns} & set(index.facets)
    found = score(mine[0], truth, {name: slicing_of(index.facets[name]) for name in names})
    return Score(
        submission=submission,
        split=split,
        n=found.n,
        right=found.right,
        right_read=score(mine[1], truth, {}).right,
        unreadable=int((mine[1] == OUTSIDE).sum()),
        **_answered_fields(submission, mine[0], truth, is_answered),
        **usage_fields(figures),
        columns=json.dumps(_columns(columns, index, found.facets), ensure_ascii=False),
    )


def _answered_fields(
    submission: Submission, codes: NDArray[np.int32], truth: NDArray[np.int64], is_answered: NDArray[np.bool_]
) -> dict[str, Any]:
    if submission.method.baseline:
        return {}
    return {"answered": int(is_answered.sum()), "right_answered": score(codes, truth, {}, among=is_answered).right}


def _columns(columns: Sequence[Column], index: SplitIndex, facets: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return [right, n] for each column of the world's board that has questions."""
    found = {}
    for column in columns:
        facet = index.facets.get(column.facet)
        if facet is not None and column.value in facet.values:
            at, slices = facet.values.index(column.value), facets[column.facet]
            if slices.n[at]:
                found[column.label] = [slices.right[at].item(), int(slices.n[at])]
    return found


# Work that earlier processes left undone


def _chores() -> None:
    baselines.begin()
    deletion.drop_scored()


def missing() -> Any:
    scored = Submission.objects.scored().filter(split=OuterRef("parent")).exclude(scores__split=OuterRef("pk"))
    return Split.objects.filter(state=Split.State.COMPLETE, kind=Split.Kind.DERIVED).filter(Exists(scored))


def _catch_up() -> None:
    add_missing()
    disclosure_budget.catch_up()


def add_missing() -> int:
    """Return how many scores were added, on splits that were derived after their parent's submissions."""
    added = 0
    for split in missing().select_related("dataset", "parent")[:AT_ONCE]:
        rows = Submission.objects.scored().filter(split=split.parent_id).exclude(scores__split=split)
        for submission in rows.select_related("method", "split__dataset"):
            stored = load(submission.predictions)
            row = score_on(submission, split, stored.codes, stored.read)
            Score.objects.bulk_create([row], ignore_conflicts=True)
            added += 1
    return added


RUNNER = runner.register(
    runner.Runner(
        name="submissions",
        model=Submission,
        perform=_score_or_refuse,
        seconds=lambda submission: LONGEST,
        task="webapp.leaderboards.tasks.score",
        related=("method", "split__dataset", "split__parent"),
        chores=_chores,
        catch_up=_catch_up,
    )
)


def score_now(submission: Submission) -> bool:
    """Score a submission here, or wait if another process has claimed it; return whether this ended in time.

    Raises `KeyboardInterrupt` if this process was asked to stop.
    """
    deadline = time.monotonic() + LONGEST
    while True:
        RUNNER.recover()  # a process that was killed may hold it
        RUNNER.run_now(submission)
        submission.refresh_from_db()
        if not submission.is_under_way:
            return True
        if graceful_shutdown.is_asked():
            raise KeyboardInterrupt
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE)
