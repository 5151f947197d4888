"""The Django app for datasets: making, storing and browsing them."""

import os

from django.apps import AppConfig
from django.conf import settings


class GenerationConfig(AppConfig):
    name = "generation"

    def ready(self) -> None:
        """Configure Blender with each background process's share of the processors; register the check of worlds.

        Kinds of background work register themselves when their modules are imported, which `generation.tasks` does.
        """
        from django.core import checks

        import generation.tasks  # noqa: F401
        from generation.engine.render import blender
        from generation.management.world_packages import WORLDS, check_worlds

        threads = max(1, (os.cpu_count() or 1) // settings.GENERATION_PROCESSES)
        blender.configure(blender.Setup(python=settings.BLENDER_PYTHON, threads=threads))
        checks.register(check_worlds, WORLDS)
