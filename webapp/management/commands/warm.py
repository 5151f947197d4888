"""`manage.py warm`: compiles the numba functions once, before processes fork."""

from typing import Any

from generation.making.warmup import warm
from generation.management.console import PlainCommand


class Command(PlainCommand):
    help = "Compile the fast parts once; later starts take them from NUMBA_CACHE_DIR."

    def handle(self, *args: Any, **options: Any) -> None:
        warm()
