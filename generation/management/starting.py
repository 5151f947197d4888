"""A new world, written as a package of its own that runs as it is: `generation.starter` under another name."""

import importlib.util
import keyword
import re
from pathlib import Path

from generation.engine.errors import BadSpec
from generation.engine.worlds import names

STARTER = Path(__file__).with_name("starter")
NAME = re.compile(r"[a-z][a-z0-9]{0,29}")


def write_world(name: str, folder: Path) -> list[Path]:
    """Return the files of a new world's package, now written below `folder`.

    Raises
    ------
    BadSpec
        For a name that can't be a package's or is taken; nothing is written then.
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
    """Return a text of the starter under another name."""
    return text.replace("Starter", name.capitalize()).replace("starter", name)
