"""Leaderboards as a Django app: methods, submissions, boards."""

from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    """The leaderboards' app."""

    name = "webapp.leaderboards"
    label = "leaderboards"
