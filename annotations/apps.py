"""The Django app of annotations: studies, people's answers, and human baselines."""

from django.apps import AppConfig
from django.db.models import Q


class AnnotationsConfig(AppConfig):
    """The app's configuration. It ensures that datasets and splits are not deleted while a study uses them."""

    name = "annotations"

    def ready(self) -> None:
        """Register functions that return the studies of a dataset or split, the link to a new study, and notes."""
        from annotations.models import Study
        from annotations.results import baseline_page
        from annotations.studies import question_filter
        from generation import extension_points

        def named(needed: Q, *, owner: int | None) -> list[str]:
            """Describe studies, with the titles of studies that belong to `owner`, the owner of the dataset.

            If `owner` is None, only staff manage the dataset, so all titles are given.
            """
            found = Study.objects.filter(needed).order_by("pk")
            return [f"study {one}" if owner in (None, one.owner_id) else "a study of another account" for one in found]

        extension_points.register_referrer(
            "studies",
            lambda dataset: named(Q(split__dataset=dataset) | Q(easy__dataset=dataset), owner=dataset.owner_id),
            of_split=lambda split: named(Q(split=split) | Q(easy=split), owner=split.dataset.owner_id),
        )
        extension_points.register_notes("people", of_splits=baseline_page.remarks, of_question=baseline_page.answers_to)
        extension_points.register_link("studies", question_filter.offer)
