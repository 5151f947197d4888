"""Plugins and hooks for all tests: the size of proofs, services, databases with empty tables, and garbage."""

import gc
from collections.abc import Generator, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import proof

pytest_plugins = [
    "tests.call_stack",
    "tests.services",
    "tests.made_once",
    "tests.reading_here",
    "tests.skips",
    "tests.streams",
]

# Modules and collected tests are no garbage. The search among them took a tenth of the processor time.
gc.set_threshold(50_000)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude modules and collected tests, which live until the end, from all searches for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


HYPOTHESIS_FULL = 2000
settings.register_profile(
    "proof",
    max_examples=proof.size(HYPOTHESIS_FULL, least=25, most=50),
    deadline=None,
    derandomize=proof.SHARE < 1,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("proof")


@pytest.hookimpl(tryfirst=True)  # before `-m` selects tests by their markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that run Blender, and deselect the tests marked `full` if the proof is not full."""
    for item in items:
        if "blender" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.blender)
    if proof.SHARE < 1:
        left_out = [item for item in items if item.get_closest_marker("full")]
        _check_fixtures(left_out)
        items[:] = [item for item in items if not item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)


def _check_fixtures(items: Iterable[pytest.Item]) -> None:
    """Raise `UsageError` if a test that runs only in full proofs needs a fixture that does not exist."""
    for item in items:
        info = getattr(item, "_fixtureinfo", None)
        if info is not None:
            given = getattr(getattr(item, "callspec", None), "params", ())
            missing = {*info.names_closure} - {*info.name2fixturedefs, *given, "request"}
            if missing:
                raise pytest.UsageError(f"Expected fixtures of {item.nodeid}, found none named {sorted(missing)}.")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the sizes of a worker's proofs to the process that prints them."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["proofs"] = dict(proof.SIZES)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add the sizes of a worker's proofs to the table."""
    proof.SIZES.update(getattr(node, "workeroutput", {}).get("proofs", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print each proof with its size."""
    if not proof.SIZES:
        return
    terminalreporter.section(f"proofs at {proof.SHARE} of their full size")
    for label, cases in sorted(proof.SIZES.items()):
        terminalreporter.write_line(f"{cases:>12,}  {label}")
