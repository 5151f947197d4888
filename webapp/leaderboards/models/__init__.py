"""The rows of leaderboards: methods, what they submitted, how it scored, and splits that stand on one board."""

from webapp.leaderboards.models.methods import Method
from webapp.leaderboards.models.submissions import Attempt, Score, Submission
from webapp.leaderboards.models.suites import Suite, SuiteGap, SuiteMember

__all__ = ["Attempt", "Method", "Score", "Submission", "Suite", "SuiteGap", "SuiteMember"]
