"""The script as a module, the servers that it needs, and a clock that does not wait."""

import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.asking import colour_site
from tests.asking.model_stub import ModelStub, serving
from tests.webapp.commands import ROOT
from tests.webapp.contrary import TOKEN, Contrary, running

SCRIPT = ROOT / "static" / "ask.py"
KEY = "sk-very-secret-0123456789"
NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT
Call = Callable[..., int]


class PatientClock:
    """A clock whose pauses take no time and are recorded."""

    def __init__(self) -> None:
        self.stopped, self.lock = threading.Event(), threading.Lock()
        self.pauses: list[float] = []
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def date(self) -> float:
        return NOW + self.seconds

    def wait(self, seconds: float) -> None:
        with self.lock:
            self.pauses.append(seconds)
            self.seconds += seconds


@pytest.fixture
def clock() -> PatientClock:
    return PatientClock()


@pytest.fixture
def site() -> Iterator[Contrary]:
    with running() as server:
        colour_site.fill(server, 8)
        yield server


@pytest.fixture
def model() -> Iterator[ModelStub]:
    with serving(colour_site.sees) as stub:
        yield stub


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("ask", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.random, "uniform", lambda low, high: high)
    monkeypatch.setenv("HORSESENSE_TOKEN", TOKEN)
    monkeypatch.setenv("MODEL_API_KEY", KEY)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "asked"


@pytest.fixture
def call(script: ModuleType, site: Contrary, model: ModelStub, folder: Path, clock: PatientClock) -> Call:
    """Return a function that runs the script with further options, one request at a time."""

    def run(*options: str) -> int:
        clock.stopped.clear()
        return script.main([*arguments(site, model, folder), "--concurrency", "1", *options], clock)

    return run


def arguments(site: Contrary, model: ModelStub, folder: Path) -> list[str]:
    return [
        *(site.address, colour_site.SPLIT, "--base-url", model.address, "--model", "eye"),
        *("--folder", str(folder)),
    ]


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "replies.jsonl").read_bytes().splitlines()]


def answers(folder: Path) -> list[Any]:
    return [json.loads(line)["answer"] for line in (folder / "answers.jsonl").read_bytes().splitlines()]


def truth(count: int) -> list[str]:
    return [colour_site.question(number)["answer"] for number in range(count)]
