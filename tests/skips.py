"""Where services are demanded, no test passes unseen: one that skips, or is expected to fail, counts as failed.

With HORSESENSE_REQUIRE_SERVICES=1, as `.ci/run` sets it, only `Unshared` is let through: data beside the project that a
clean clone does not have, PyTorch, which `make torch` alone installs, and the tools that check files of `webapp/deploy`
and Docker's, which are no part of a site.
"""

import os
from collections.abc import Generator

import pytest

DEMAND = "HORSESENSE_REQUIRE_SERVICES"


class Unshared(pytest.skip.Exception):
    """Something that is no part of the project is not there."""


def demanded() -> bool:
    """Return whether every test has to run."""
    return os.environ.get(DEMAND) == "1"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip or an expected failure of a test into a failure."""
    report = yield
    if report.skipped and demanded() and not (call.excinfo and isinstance(call.excinfo.value, Unshared)):
        _fail(report, getattr(report, "wasxfail", None))
        report.__dict__.pop("wasxfail", None)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a skip of a whole file into a failure."""
    report = yield
    if report.skipped and demanded():
        _fail(report, None)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport, expected: str | None) -> None:
    """Make a report one of a failure, keeping what was said."""
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    what = f"Expected to fail ({expected}):\n{said}" if expected is not None else said
    report.outcome = "failed"
    report.longrepr = f"{DEMAND}=1 lets no test pass without running. {what}"
