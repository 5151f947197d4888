"""What submissions say they were trained on, as far as whoever reads it may know that there is such a split."""

from typing import Any

from generation.access import What, may_mention, may_see
from webapp.leaderboards.lookup import owns
from webapp.leaderboards.models import Submission

HIDDEN = "a private split"


def trained_on(user: Any, submission: Submission) -> str:
    """Return the split that a submission names, as this visitor may be told of it; empty where it names none.

    Its dataset has to be public, theirs, the one that the submission is to, or one that they named themselves and may
    still open. Of a split that is deleted the name is kept: for all where its dataset was public, else for them.
    """
    split = submission.trained_on
    if split is None:
        may_know = submission.trained_on_listed or owns(user, submission)
        return submission.trained_on_name if may_know or not submission.trained_on_name else HIDDEN
    is_known = split.dataset_id == submission.split.dataset_id or owns(user, submission)
    may_know = may_see(user, split, What.QUESTION) and (is_known or may_mention(user, split.dataset))
    return str(split) if may_know else HIDDEN
