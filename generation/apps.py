"""Generation as a Django app: datasets, how they are made, stored and browsed."""

import os

from django.apps import AppConfig
from django.conf import settings


class GenerationConfig(AppConfig):
    """The generation app."""

    name = "generation"

    def ready(self) -> None:
        """Tell the engine where Blender is; background processes share the processors. Have worlds checked.

        Kinds of background work register themselves when their modules are loaded, which the tasks do.
        """
        from django.core import checks

        import generation.tasks  # noqa: F401
        from generation.engine.render import blender
        from generation.management.worlds import check_worlds

        threads = max(1, (os.cpu_count() or 1) // settings.GENERATION_PROCESSES)
        blender.configure(blender.Setup(python=settings.BLENDER_PYTHON, threads=threads))
        checks.register(check_worlds)
