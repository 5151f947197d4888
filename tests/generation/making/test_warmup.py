"""Compilation before use: only the needed functions are compiled, and their names are reported."""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import settings
from django.core.management import call_command

from generation.engine.compilation_watch import watch
from generation.engine.numba_compiler import njit
from generation.making import warmup
from generation.management import console
from tests.generation.small import SPEC

LIST = """
import json
import sys
from generation.engine.compilation_watch import watch
names = []
with watch(names.append):
    exec(sys.argv[1])
print(json.dumps(names))
"""


def test_names_of_compiled_functions_are_reported() -> None:
    @njit
    def twice(number: int) -> int:
        return 2 * number

    names: list[str] = []
    with watch(names.append):
        assert twice(2) == 4 and twice(3) == 6
    assert names == ["twice"]


LOAD_FOR_PAGES = """
from generation.making import warmup
from generation.storage.split_index_steps import count_codes, mark_codes
warmup.load_for_pages()
names += [step.__name__ for step in (count_codes, mark_codes) if step.signatures]
"""


def names_in_a_new_process(step: str, cache: Path) -> Any:
    """Return the names of the functions that a new process compiles in this step, and names that the step adds."""
    done = subprocess.run(
        [sys.executable, "-c", LIST, step],
        cwd=settings.BASE_DIR,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "DJANGO_SETTINGS_MODULE": "webapp.settings"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(done.stdout)


def test_babi_compiles_nothing_on_a_fresh_copy(tmp_path: Path) -> None:
    assert names_in_a_new_process('from generation.engine.precompilation import warm; warm(["babi"])', tmp_path) == []


def test_a_web_server_compiles_nothing_at_its_start_and_loads_what_is_compiled(tmp_path: Path) -> None:
    assert names_in_a_new_process(LOAD_FOR_PAGES, tmp_path) == []
    # The process watches before it loads numba.
    compiled = names_in_a_new_process("from generation.making import warmup; warmup._warm_pages()", tmp_path)
    assert compiled == 2 * ["mark_codes", "count_codes"]
    assert names_in_a_new_process(LOAD_FOR_PAGES, tmp_path) == ["count_codes", "mark_codes"]


@pytest.mark.django_db
@pytest.mark.parametrize("images", [True, False])
def test_generate_compiles_only_for_its_own_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, images: bool
) -> None:
    (tmp_path / "shapes.json").write_text(json.dumps(SPEC))
    asked: list[tuple[str, bool]] = []

    def stop(name: str, *, draws: bool) -> None:
        asked.append((name, draws))
        raise KeyboardInterrupt

    monkeypatch.setattr("generation.management.console.warm_world", stop)
    with pytest.raises(KeyboardInterrupt):
        call_command("generate", str(tmp_path / "shapes.json"), no_images=not images)
    assert asked == [("clevr", images)]


def test_unknown_worlds_are_skipped() -> None:
    warmup.warm_world("nothing", draws=True)


def test_everything_is_compiled_once_and_again_after_a_source_changed(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[int] = []
    source = tmp_path / "engine" / "loops.py"
    source.parent.mkdir()
    source.touch()
    settings.NUMBA_CACHE_DIR = tmp_path / "numba"
    monkeypatch.setattr(warmup, "SOURCES", [source.parent])
    monkeypatch.setattr(warmup, "_compile_all", lambda: compiled.append(len(compiled)))
    for _ in range(2):
        warmup.warm()
    assert compiled == [0]
    os.utime(source, (0, 0))
    warmup.warm()
    assert compiled == [0, 1]


class RenamedLater(NamedTuple):
    """A type in the signature of a compiled function."""

    number: int


@pytest.mark.parametrize("start", [warmup.warm, lambda: warmup.warm_world("nothing", draws=False)])
def test_indexes_that_name_a_class_of_an_older_release_are_deleted(
    start: Callable[[], None], settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.NUMBA_CACHE_DIR = tmp_path
    monkeypatch.setattr(warmup, "_compile_all", lambda: None)
    stale, sound, cut = (tmp_path / name / "index.nbi" for name in ("stale", "sound", "cut"))
    for index, signature in ((stale, RenamedLater(1)), (sound, (1,)), (cut, None)):
        index.parent.mkdir()
        index.write_bytes(pickle.dumps("1") + (b"" if signature is None else pickle.dumps(("stamp", signature))))
    monkeypatch.delattr(sys.modules[__name__], "RenamedLater")
    start()
    assert [index.exists() for index in (stale, sound, cut)] == [False, True, False]


def test_a_failed_compilation_is_retried(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.NUMBA_CACHE_DIR = tmp_path
    monkeypatch.setattr(warmup, "_compile_all", lambda: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            warmup.warm()


def test_a_command_says_what_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 1.0, 5.0, 9.0, 12.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(times))
    lines: list[str] = []
    told = console.CompilingNotice(lines.append)
    for name in "abcde":
        told(name)
    assert lines == [
        "Compiling the fast parts for this machine, once. It takes a minute or two.",
        "Compiling: 3 functions after 5 s, now c.",
        "Compiling: 5 functions after 12 s, now e.",
    ]
