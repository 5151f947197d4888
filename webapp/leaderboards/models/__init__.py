"""The rows of leaderboards: methods, what they submitted, how it scored, what is published of that, and suites."""

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
