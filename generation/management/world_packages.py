"""Worlds of other packages: checking them at the start, and making a new one from `generation.starter`.

The site also runs if some worlds are broken.
"""

import importlib.util
import keyword
import re
from pathlib import Path
from typing import Any

from django.core.checks import CheckMessage, Warning

from generation.engine.errors import BadSpec, BrokenWorld
from generation.engine.worlds import REGISTRY, get_world, names, plugins

WORLDS = "worlds"  # the tag of this check


def check_worlds(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Return a warning for each world of another package that cannot be used."""
    found: list[CheckMessage] = []
    for name in plugins.entry_points_by_name():
        if name in REGISTRY:
            said = f"{name}: Expected another name than that of a world of ours, which counts."
            found.append(Warning(said, hint="Rename it in its package.", id="generation.W002"))
            continue
        try:
            get_world(name)
        except BrokenWorld as error:
            found.append(Warning(str(error), hint="Mend the package, or uninstall it.", id="generation.W001"))
    return found


STARTER = Path(__file__).parents[1] / "starter"
NAME = re.compile(r"[a-z][a-z0-9]{0,29}")


def write_world(name: str, folder: Path) -> list[Path]:
    """Write the files of a new world's package below `folder`; return their paths.

    Raises
    ------
    BadSpec
        If the name cannot be a package's name or is taken. Then nothing is written.
    """
    _check(name)
    home = folder / name
    if home.exists():
        raise BadSpec(f"Expected a folder that isn't there yet, got {home}.", where=name)
    target = {
        home / "pyproject.toml": STARTER / "pyproject.txt",
        home / name / "__init__.py": STARTER / "__init__.py",
        home / name / "world.py": STARTER / "world.py",
    }
    home.joinpath(name).mkdir(parents=True)
    for path, source in target.items():
        path.write_text(renamed(source.read_text(), name))
    return list(target)


def _check(name: str) -> None:
    if not NAME.fullmatch(name):
        raise BadSpec(f"Expected up to 30 small letters and digits, a letter first, got {name!r}.", where="NAME")
    if name in names():
        raise BadSpec(f"Expected a name that no world has, got {name!r}.", where="NAME")
    if keyword.iskeyword(name) or importlib.util.find_spec(name) is not None:
        raise BadSpec(f"Expected a name that Python doesn't use already, got {name!r}.", where="NAME")


def renamed(text: str, name: str) -> str:
    return text.replace("Starter", name.capitalize()).replace("starter", name)
