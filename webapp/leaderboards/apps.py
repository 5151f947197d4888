"""Leaderboards as a Django app: methods, submissions, boards."""

from django.apps import AppConfig


class LeaderboardsConfig(AppConfig):
    """The app's configuration."""

    name = "webapp.leaderboards"
    label = "leaderboards"

    def ready(self) -> None:
        """Register storage use, losses of deleted splits, links on pages, and the disclosure of human baselines."""
        import webapp.leaderboards.tasks  # noqa: F401
        from annotations.studies import baseline_disclosure
        from generation import extension_points
        from generation.storage import storage_quotas
        from webapp.leaderboards import board_lookup, deletion
        from webapp.leaderboards.disclosure import disclosure_budget, limits
        from webapp.leaderboards.fresh_twins import listing
        from webapp.leaderboards.training import results

        storage_quotas.register("submissions", limits.use)
        storage_quotas.register("trainings", results.storage_use)
        extension_points.register_losses("leaderboards", deletion.losses, deletion.release)
        extension_points.register_notes(
            "leaderboards", of_splits=board_lookup.remarks, of_question=board_lookup.nothing
        )
        extension_points.register_notes("twins", of_splits=listing.notes, of_question=listing.no_note)
        extension_points.register_action("twins", listing.action)
        extension_points.register_question_link("leaderboards", board_lookup.answers_of_methods)
        baseline_disclosure.register(
            decide=disclosure_budget.disclose_people, share_of=disclosure_budget.share_of_people
        )
