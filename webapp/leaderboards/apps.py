"""Leaderboards as a Django app: methods, submissions, boards."""

from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    """The leaderboards' app: a split that was submitted to can't be deleted."""

    name = "webapp.leaderboards"
    label = "leaderboards"

    def ready(self) -> None:
        """Say what was submitted, lead from splits to their boards, and let heartbeats sweep what is scored."""
        from generation import referrers, remarks, sweeping
        from webapp.leaderboards import linking, referring, scoring

        referrers.register("leaderboards", referring.of_dataset, of_split=referring.of_split)
        remarks.register("leaderboards", of_splits=linking.remarks, of_question=linking.nothing)
        sweeping.register("leaderboards", scoring.sweep)
