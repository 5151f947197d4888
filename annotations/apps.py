"""Annotations as a Django app: answers that people give, and the human baseline."""

from django.apps import AppConfig


class AnnotationsConfig(AppConfig):
    """The annotations' app: what a study asks about can't be deleted."""

    name = "annotations"

    def ready(self) -> None:
        """Say which studies refer to datasets and splits, offer to make one, and tell what people answered."""
        from annotations import filtered, shown
        from annotations.models import Study
        from generation import offers, referrers, remarks

        referrers.register(
            "studies",
            lambda dataset: [f"study {study}" for study in Study.objects.filter(split__dataset=dataset)],
            of_split=lambda split: [f"study {study}" for study in Study.objects.filter(split=split)],
        )
        remarks.register("people", of_splits=shown.remarks, of_question=shown.said_of)
        offers.register("studies", filtered.offer)
