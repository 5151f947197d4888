"""Who may see the replies of a submission. A reply says the answer, so the rule is that of the answers of methods."""

from generation.access import Visitor, may_see_exact_figures
from webapp.leaderboards.models import Submission


def may_see_replies(user: Visitor, submission: Submission) -> bool:
    """Return whether a visitor who may see a submission may see its replies, if it has some."""
    if not submission.replies:
        return False
    is_own = user.is_authenticated and (user.is_staff or submission.method.owner_id == user.pk)
    return is_own or may_see_exact_figures(user, submission.split)
