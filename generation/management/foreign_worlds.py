"""Worlds of other packages, as `manage.py check` and every command look at them: the site runs without broken ones."""

from typing import Any

from django.core.checks import CheckMessage, Warning

from generation.engine.errors import BrokenWorld
from generation.engine.worlds import REGISTRY, get_world, plugins


def check_worlds(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Return a warning for each world of another package that can't be used."""
    found: list[CheckMessage] = []
    for name in plugins.found():
        if name in REGISTRY:
            said = f"{name}: Expected another name than that of a world of ours, which counts."
            found.append(Warning(said, hint="Rename it in its package.", id="generation.W002"))
            continue
        try:
            get_world(name)
        except BrokenWorld as error:
            found.append(Warning(str(error), hint="Mend the package, or uninstall it.", id="generation.W001"))
    return found
