"""`static/ask.py` is built from the modules of `generation/asking`, and the builder refuses modules that do not fit."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from generation.asking import single_file
from generation.asking.single_file import LAST_MODULE, ROOT, UnfitModule, join_modules, main, order_parts
from tests.asking.conftest import SCRIPT

Write = Callable[..., None]
MODULES = [part.module for part in order_parts([LAST_MODULE])]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes modules of `generation`; the name of a module is the name of an argument."""
    (tmp_path / "generation").mkdir()

    def run(**modules: str) -> None:
        for name, source in modules.items():
            (tmp_path / "generation" / f"{name}.py").write_text(source, encoding="utf-8")

    return run


def test_the_script_is_what_the_builder_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check"]) == 0, "run `make static/ask.py`"
    target = tmp_path / "ask.py"
    monkeypatch.setattr(single_file, "TARGET", target)
    assert main(["--check"]) == 1
    assert main([]) == 0 and target.read_bytes() == SCRIPT.read_bytes()
    target.write_bytes(target.read_bytes() + b"\n")
    assert main(["--check"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and all("run `make static/ask.py`" in line for line in said)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_the_syntax_of_python_3_9(module: str) -> None:
    source = ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 9))


def test_every_module_of_the_folder_is_in_the_script_or_about_it() -> None:
    paths = [path for path in (ROOT / "generation/asking").rglob("*.py") if path.name != "__init__.py"]
    there = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}
    others = {f"generation.asking.{name}" for name in ("installed_command", "single_file")}
    assert there - others == {module for module in MODULES if module.startswith("generation.asking.")}
    assert all(module.startswith(("generation.asking.", "generation.engine.")) for module in MODULES)  # as the wheel


def test_parts_follow_those_that_they_import_under_one_sorted_block_of_imports(write: Write, tmp_path: Path) -> None:
    write(
        first=(
            '"""First."""\n\nfrom __future__ import annotations\n\nimport zlib\n'
            "from typing import Any, BinaryIO\n\nfrom generation.second import two\n\n"
            "# Of two.\nONE: Any = two(zlib, BinaryIO)\n"
        ),
        second=(
            '"""Second.\n\nMore about it.\n"""\n\nimport os.path\n'
            "from typing import (\n    IO,\n    Any,\n    cast,\n)\n\n\n"
            "def two(*some: Any) -> Any:\n    import json\n\n    return cast(IO, os.path), json\n"
        ),
    )
    assert join_modules(["generation.first"], root=tmp_path) == (
        "import os.path\nimport zlib\nfrom typing import IO, Any, BinaryIO, cast\n\n"
        "# Second.\n\n\ndef two(*some: Any) -> Any:\n    import json\n\n    return cast(IO, os.path), json\n\n\n"
        "# First.\n\n\n# Of two.\nONE: Any = two(zlib, BinaryIO)\n"
    )


def test_a_long_import_has_a_line_for_each_name(write: Write, tmp_path: Path) -> None:
    names = ["Awaitable", "Callable", "Coroutine", "Generator", "Iterable", "Iterator", "Mapping", "MutableMapping"]
    write(first=f'"""First."""\n\nfrom collections.abc import {", ".join(names)}, Sequence\n')
    lines = join_modules(["generation.first"], root=tmp_path).splitlines()
    assert lines[:11] == ["from collections.abc import (", *(f"    {name}," for name in [*names, "Sequence"]), ")"]


ONE = '"""First."""\n\nfrom generation.second import two\n\n{}\n'
TWO = '"""Second."""\n\ntwo = 2\n'


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (
            ONE.format("two = 3"),
            TWO,
            "one meaning of the name two, got those of generation.second and generation.first",
        ),
        (ONE.format("def two(): ..."), TWO, "one meaning of the name two"),
        (ONE.format("if two:\n    other = 2"), f"{TWO}\nclass other: ...\n", "one meaning of the name other"),
        (ONE.format("from copy import replace"), f"{TWO}\nreplace = 1\n", "generation.second and copy.replace"),
        (ONE.format("import time"), f"from time import time\n{TWO}", "those of time.time and time"),
        (ONE.format("import os as time"), f"import time\n{TWO}", "those of time and os"),
        (ONE.format("open = two"), TWO, "one meaning of the name open, got those of builtins and generation.first"),
        ("from generation.second import two as three\n", TWO, "`from generation.second import NAME` without another"),
        ("import generation.second\n", TWO, "`from generation.second import NAME` without another name, got `import"),
        ("from generation import second\n", TWO, "Import names from modules, not modules."),
        ("from .second import two\n", TWO, "Expected the whole name of the module, got `from .second import two` in"),
        ("def one():\n    from generation.second import two\n", TWO, "at the top of the module, got `from generation"),
        ("if 1:\n    from generation.second import two\n", TWO, "at the top of the module"),
        ("import numpy as np\n", "", "not numpy, got `import numpy as np` in"),
        ("def one():\n    from PIL import Image\n", "", "modules of generation, not PIL"),
        ("from webapp.models import User\n", "", "modules of generation, not webapp.models"),
        (ONE.format(""), "from os import sep as two\n", "two to be defined in generation.second, got none: generation"),
        ("from generation.second import *\n", TWO, "Expected * to be defined in generation.second"),
        (
            ONE.format("one = 1"),
            f"from generation.first import one\n{TWO}",
            "generation.first -> generation.second -> ",
        ),
    ],
)
def test_a_module_that_does_not_fit_is_refused(
    first: str, second: str, says: str, write: Write, tmp_path: Path
) -> None:
    write(first=first, second=second)
    with pytest.raises(UnfitModule) as refused:
        join_modules(["generation.first"], root=tmp_path)
    assert says in str(refused.value)


def test_names_inside_functions_may_be_the_same(write: Write, tmp_path: Path) -> None:
    body = "def {}():\n    value = [time for time in ()]\n    return value\n"
    write(first=ONE.format(body.format("one")), second=f"import time\n\n{TWO}\n{body.format('other')}")
    assert "def one" in join_modules(["generation.first"], root=tmp_path)


def test_a_module_that_does_not_fit_is_one_message_and_changes_nothing(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(first="import numpy\n")
    target = tmp_path / "ask.py"
    monkeypatch.setattr(single_file, "TARGET", target)
    monkeypatch.setattr(single_file, "LAST_MODULE", "generation.first")
    monkeypatch.setattr(single_file, "order_parts", lambda modules, root: order_parts(modules, root=tmp_path))
    assert main([]) == 2 and not target.exists()
    assert "not numpy" in capsys.readouterr().err
