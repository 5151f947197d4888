"""An app above datasets: it stands for studies and submissions."""

from django.apps import AppConfig


class ReferringConfig(AppConfig):
    name = "tests.referring"
    label = "referring"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from generation import extension_points
        from tests.referring.models import Study

        extension_points.register_referrer(
            "study", lambda dataset: [str(one) for one in Study.objects.filter(dataset=dataset)]
        )
