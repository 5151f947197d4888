"""What all tests share: the size of proofs, the services they may use, a site of a test's own."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import proof
from tests.webapp.commands import environment_of

pytest_plugins = ["tests.services", "tests.skips"]

HYPOTHESIS_FULL = 2000
settings.register_profile(
    "proof",
    max_examples=max(25, int(HYPOTHESIS_FULL * proof.SHARE)),
    deadline=None,
    derandomize=proof.SHARE < 1,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("proof")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what can't be made smaller to full proofs."""
    if proof.SHARE < 1:
        left_out = [item for item in items if item.get_closest_marker("full")]
        items[:] = [item for item in items if not item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the sizes of a worker's proofs to the process that prints them."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["proofs"] = dict(proof.SIZES)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take in the sizes of a worker's proofs."""
    proof.SIZES.update(getattr(node, "workeroutput", {}).get("proofs", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print each proof with its size."""
    if not proof.SIZES:
        return
    terminalreporter.section(f"proofs at {proof.SHARE} of their full size")
    for label, cases in sorted(proof.SIZES.items()):
        terminalreporter.write_line(f"{cases:>12,}  {label}")


@pytest.fixture
def site_environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment in which `manage.py` runs a site of this test's own, with defaults otherwise."""
    return environment_of(tmp_path / "var")
