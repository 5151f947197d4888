"""Annotations as a Django app: answers that people give, and the human baseline."""

from django.apps import AppConfig
from django.db.models import Q


class AnnotationsConfig(AppConfig):
    """The annotations' app: what a study asks about can't be deleted."""

    name = "annotations"

    def ready(self) -> None:
        """Say which studies refer to datasets and splits, offer to make one, and tell what people answered."""
        from annotations.models import Study
        from annotations.results import baseline_page
        from annotations.studies import question_filter
        from generation import extensions

        def named(needed: Q, *, owner: int | None) -> list[str]:
            """Return studies in words; a dataset's owner reads no titles of others, staff reads all."""
            found = Study.objects.filter(needed).order_by("pk")
            return [f"study {one}" if owner in (None, one.owner_id) else "a study of another account" for one in found]

        extensions.register_referrer(
            "studies",
            lambda dataset: named(Q(split__dataset=dataset) | Q(easy__dataset=dataset), owner=dataset.owner_id),
            of_split=lambda split: named(Q(split=split) | Q(easy=split), owner=split.dataset.owner_id),
        )
        extensions.register_notes("people", of_splits=baseline_page.remarks, of_question=baseline_page.said_of)
        extensions.register_link("studies", question_filter.offer)
