"""Leaderboards as a Django app: methods, submissions, boards."""

from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    """The leaderboards' app: a split that was submitted to can't be deleted."""

    name = "webapp.leaderboards"
    label = "leaderboards"

    def ready(self) -> None:
        """Say what was submitted to datasets and splits, and let heartbeats sweep what is scored."""
        from generation import referrers, sweeping
        from webapp.leaderboards import referring, scoring

        referrers.register("leaderboards", referring.of_dataset, of_split=referring.of_split)
        sweeping.register("leaderboards", scoring.sweep)
