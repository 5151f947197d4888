"""`manage.py warm`: compile what is compiled, once, before processes fork."""

from typing import Any

from generation.making.warmup import warm
from generation.management.console import PlainCommand


class Command(PlainCommand):
    """Compile the fast parts, so that no page and no background process waits for it."""

    help = "Compile the fast parts once; later starts take them from NUMBA_CACHE_DIR."

    def handle(self, *args: Any, **options: Any) -> None:
        warm()
