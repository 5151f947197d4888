"""Tables of leaderboards: methods, submissions, scores, disclosures, and suites."""

from webapp.leaderboards.models.disclosures import Disclosure, DisclosureSettings, SubmitterApproval
from webapp.leaderboards.models.methods import Method
from webapp.leaderboards.models.submissions import Attempt, RemovedSubmissions, Score, Submission
from webapp.leaderboards.models.suites import Suite, SuiteGap, SuiteMember

__all__ = [
    "Attempt",
    "Disclosure",
    "DisclosureSettings",
    "Method",
    "RemovedSubmissions",
    "Score",
    "Submission",
    "SubmitterApproval",
    "Suite",
    "SuiteGap",
    "SuiteMember",
]
