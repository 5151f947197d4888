"""Settings of a whole site that a test runs: those that its environment gives, and the toy in addition."""

from webapp.settings import *  # noqa: F403
from webapp.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.leaderboards.training.toy_app.ToyAppConfig"]
