"""Leaderboards as a Django app: methods, submissions, boards."""

from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    """The app's configuration."""

    name = "webapp.leaderboards"
    label = "leaderboards"

    def ready(self) -> None:
        """Register storage use, losses of deleted splits, links to boards, and the disclosure of human baselines."""
        import webapp.leaderboards.tasks  # noqa: F401
        from annotations.studies import human_disclosure
        from generation import extensions
        from generation.storage import account_storage
        from webapp.leaderboards import board_lookup, deletion, limits
        from webapp.leaderboards.disclosure import ladder

        account_storage.register("submissions", limits.use)
        extensions.register_losses("leaderboards", deletion.losses, deletion.release)
        extensions.register_notes("leaderboards", of_splits=board_lookup.remarks, of_question=board_lookup.nothing)
        human_disclosure.register(decide=ladder.disclose_people, share_of=ladder.share_of_people)
