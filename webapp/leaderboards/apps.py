"""Leaderboards as a Django app: methods, submissions, boards."""

from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    """The leaderboards' app: submissions go with the splits that they are to."""

    name = "webapp.leaderboards"
    label = "leaderboards"

    def ready(self) -> None:
        """Register what was submitted, links to boards, scoring as background work, and what is published of people."""
        from annotations.studies import disclosure
        from generation import extensions
        from generation.storage import account_storage
        from webapp.leaderboards import deletion, limits, lookup
        from webapp.leaderboards.disclosure import ladder

        account_storage.register("submissions", limits.use)
        extensions.register_losses("leaderboards", deletion.losses, deletion.release)
        extensions.register_notes("leaderboards", of_splits=lookup.remarks, of_question=lookup.nothing)
        disclosure.register(decide=ladder.disclose_people, share_of=ladder.share_of_people)
