"""If services are required, a test that is skipped or expected to fail counts as failed.

`.ci/run` requires them by HORSESENSE_REQUIRE_SERVICES=1. Then only `Unshared` may skip a test. It is raised for data
beside the project that a clean clone does not have, for PyTorch, which only `make torch` installs, and for the tools
that check files of `webapp/deploy` and of Docker, which are not part of a site.
"""

import os
from collections.abc import Generator

import pytest

DEMAND = "HORSESENSE_REQUIRE_SERVICES"


class Unshared(pytest.skip.Exception):
    """Skips a test because something is missing that is not part of the project."""


def services_are_required() -> bool:
    """Return whether every test must run."""
    return os.environ.get(DEMAND) == "1"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip or an expected failure of a test into a failure."""
    report = yield
    if report.skipped and services_are_required() and not (call.excinfo and isinstance(call.excinfo.value, Unshared)):
        _fail(report, getattr(report, "wasxfail", None))
        report.__dict__.pop("wasxfail", None)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a skip of a whole file into a failure."""
    report = yield
    if report.skipped and services_are_required():
        _fail(report, None)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport, expected: str | None) -> None:
    """Change a report to a failure and keep its message."""
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    what = f"Expected to fail ({expected}):\n{said}" if expected is not None else said
    report.outcome = "failed"
    report.longrepr = f"{DEMAND}=1 lets no test pass without running. {what}"
