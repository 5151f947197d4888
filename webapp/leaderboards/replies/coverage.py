"""Coverage: which questions of a submission have an answer, and the least share that a board accepts.

A question without an answer counts as wrong. A question has no answer if its reply is not complete (cut off, refused,
empty, failed), if the file has null or an empty text for it, or if the file has a runner's text for a failed request.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings
from django.db.models import Q
from numpy.typing import NDArray

from generation.engine.errors import BadPredictions, BadReplies
from generation.engine.predictions.packed_predictions import PackedPredictions
from generation.engine.predictions.packed_replies import NO_REPLY, STATES, PackedReplies, ReplyFigures
from generation.engine.predictions.reply_records import FORMAT
from generation.engine.predictions.unanswered import is_empty, is_failure
from generation.models import Split
from webapp.leaderboards.models import BoardSettings, Submission
from webapp.leaderboards.replies import stored_replies
from webapp.leaderboards.stored_predictions import load

WITHOUT = "without an answer"  # the state of a question with null or an empty text, if there are no replies
FAILED = "failed"
NAMED = 5  # questions that a message names


class AnswerStates(NamedTuple):
    """Which questions of a submission have an answer.

    Attributes
    ----------
    is_answered : array (questions,) of bool
    unanswered : mapping of str to int
        The number of questions without an answer, by state.
    failures : int
        The number of answers in the file that are a runner's texts for failed requests.
    figures : ReplyFigures or None
        Tokens, cost and latency of each question, if there are replies.
    """

    is_answered: NDArray[np.bool_]
    unanswered: Mapping[str, int]
    failures: int
    figures: ReplyFigures | None = None

    @property
    def questions(self) -> int:
        return len(self.is_answered)

    @property
    def answered(self) -> int:
        return int(self.is_answered.sum())


def answer_states(found: PackedPredictions, replies: PackedReplies | None, *, where: str) -> AnswerStates:
    """Return which questions have an answer. If a question has a reply, the state of the reply decides.

    Raises
    ------
    BadReplies
        If the file has an answer to a question whose reply is not complete.
    """
    texts = found.outside
    failed = [at for at, text in texts.items() if is_failure(text)]
    empty = [at for at, text in texts.items() if is_empty(text)]
    is_given = np.ones(len(found.codes), np.bool_)
    is_given[failed] = is_given[empty] = False
    if replies is None:
        counts = {WITHOUT: len(empty), FAILED: len(failed)}
        return AnswerStates(is_given, {name: count for name, count in counts.items() if count}, len(failed))
    states = replies.figures.states
    has_reply = states != NO_REPLY
    _check_invented(np.flatnonzero(is_given & has_reply & (states != 0)), states, where=where)
    is_answered = np.where(has_reply, states == 0, is_given)
    counted: Counter[str] = Counter(STATES[code] for code in states[has_reply & (states != 0)].tolist())
    counted[FAILED] += sum(not has_reply[at] for at in failed)
    counted[WITHOUT] += sum(not has_reply[at] for at in empty)
    unanswered = {name: count for name, count in counted.items() if count}
    return AnswerStates(is_answered, unanswered, len(failed), replies.figures)


def _check_invented(questions: NDArray[np.int64], states: NDArray[np.uint8], *, where: str) -> None:
    """Raise `BadReplies` if there are questions with an answer although their reply is not complete."""
    if not len(questions):
        return
    named = ", ".join(f"{at} ({STATES[states[at]]})" for at in questions[:NAMED].tolist())
    more = f" and {len(questions) - NAMED:,} more" if len(questions) > NAMED else ""
    message = (
        f"Expected null as answer to questions whose reply is not complete, got answers to {len(questions):,} of them: "
        f"question{'' if len(questions) == 1 else 's'} {named}{more}. {FORMAT}"
    )
    raise BadReplies(message, where=where)


def states_of(submission: Submission) -> AnswerStates:
    replies = stored_replies.load(submission.replies) if submission.replies else None
    return answer_states(load(submission.predictions), replies, where=str(submission.split))


# Figures of a score


def usage_fields(figures: ReplyFigures | None) -> dict[str, Any]:
    """Return the fields of a score about tokens, cost and latency, over the questions for which they are known."""
    if figures is None:
        return {}
    cost = _known(figures.cost)
    return {
        "tokens": _mean(_known(figures.tokens)),
        "cost": None if not len(cost) else round(1000 * float(cost.mean()), 6),
        "latency": _median(_known(figures.latency)),
    }


def _known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]


def _mean(values: NDArray[np.float64]) -> float | None:
    return round(float(values.mean()), 3) if len(values) else None


def _median(values: NDArray[np.float64]) -> float | None:
    return round(float(np.median(values)), 3) if len(values) else None


# The least coverage of a board


def least_coverage(split: Split) -> int:
    """Return the least coverage of a split's board in percent: that of the split, else its parent, dataset or site."""
    splits = [key for key in (split.pk, split.parent_id) if key is not None]
    wanted = Q(split__in=splits) | Q(dataset=split.dataset_id)
    found = {(one.split_id, one.dataset_id): one.least_coverage for one in BoardSettings.objects.filter(wanted)}
    for key in ((split.pk, None), (split.parent_id, None), (None, split.dataset_id)):
        if key in found:
            return found[key]
    least: int = settings.LEAST_COVERAGE
    return least


def check_coverage(states: AnswerStates, split: Split, least: int) -> None:
    """Raise `BadPredictions`, with the numbers, if fewer than `least` percent of the questions have an answer."""
    asked, answered = states.questions, states.answered
    if 100 * answered >= least * asked:
        return
    found = ", ".join(f"{count:,} {name}" for name, count in sorted(states.unanswered.items(), key=lambda one: -one[1]))
    message = (
        f"Expected answers to at least {least} % of {asked:,} questions, got {answered:,} "
        f"({_share(answered, asked)} %): {found}. Ask the other questions again, then submit."
    )
    raise BadPredictions(message, where=str(split))


def _share(answered: int, asked: int) -> str:
    # Rounded down, because 94.96 must not look like 95.
    return f"{1000 * answered // max(1, asked) / 10:g}"
