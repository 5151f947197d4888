"""Tables of leaderboards: methods, trainings, submissions, scores, disclosures, suites, and saved views."""

from webapp.leaderboards.models.board_settings import BoardSettings
from webapp.leaderboards.models.disclosures import Disclosure, DisclosureSettings, SubmitterApproval
from webapp.leaderboards.models.methods import Method
from webapp.leaderboards.models.saved_views import SavedView
from webapp.leaderboards.models.submissions import Attempt, RemovedSubmissions, Score, Submission
from webapp.leaderboards.models.suites import Suite, SuiteGap, SuiteMember
from webapp.leaderboards.models.trainings import Training

__all__ = [
    "Attempt",
    "BoardSettings",
    "Disclosure",
    "DisclosureSettings",
    "Method",
    "RemovedSubmissions",
    "SavedView",
    "Score",
    "Submission",
    "SubmitterApproval",
    "Suite",
    "SuiteGap",
    "SuiteMember",
    "Training",
]
