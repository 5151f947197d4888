"""An app that makes the toy known to a whole site."""

from django.apps import AppConfig


class ToyAppConfig(AppConfig):
    name = "tests.leaderboards.training"
    label = "toys"

    def ready(self) -> None:
        from tests.leaderboards.training import toys
        from webapp.leaderboards.training import process

        toys.register()
        process.PROGRAM = "tests.leaderboards.training.toy_process"
