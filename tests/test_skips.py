"""Tests that cannot run: they report what is missing, and they fail if services are required."""

import pytest

from tests.services import missing
from tests.skips import DEMAND

pytest_plugins = ["pytester"]

FILE = """
    import pytest
    from tests.services import missing
    from tests.skips import Unshared

    def test_lacks_a_service():
        missing("Chromium", "apt install chromium")

    @pytest.fixture(scope="session")
    def browser():
        missing("Chromium", "apt install chromium")

    def test_lacks_a_service_in_its_fixture(browser):
        pass

    @pytest.mark.skip(reason="not today")
    def test_is_marked():
        pass

    @pytest.mark.xfail(reason="not yet")
    def test_is_expected_to_fail():
        assert 1 == 2

    def test_lacks_what_is_no_part_of_the_project():
        raise Unshared("no scenes")

    def test_runs():
        pass
"""


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """Give a project of one file that uses the plugin `tests.skips`."""
    pytester.makeconftest('pytest_plugins = ["tests.skips"]')
    pytester.makepyfile(FILE)
    return pytester


def run(inner: pytest.Pytester) -> pytest.RunResult:
    return inner.runpytest_inprocess("-rs", "-p", "no:django", "-p", "no:xdist", "-p", "no:cacheprovider")


def test_a_missing_service_skips_the_test_with_a_message_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DEMAND, raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Chromium: apt install chromium"):
        missing("Chromium", "apt install chromium")


def test_tests_that_cannot_run_are_skipped(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DEMAND, raising=False)
    run(inner).assert_outcomes(passed=1, skipped=4, xfailed=1)


def test_tests_that_cannot_run_fail_if_services_are_required(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DEMAND, "1")
    result = run(inner)
    result.assert_outcomes(passed=1, skipped=1, failed=2, errors=2)
    result.stdout.fnmatch_lines(["*lets no test pass without running*no Chromium: apt install chromium*"])
    result.stdout.fnmatch_lines(["*Expected to fail (not yet)*"])
    result.stdout.fnmatch_lines(["SKIPPED*no scenes"])


def test_a_file_that_skips_itself_fails_if_services_are_required(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DEMAND, "1")
    pytester.makeconftest('pytest_plugins = ["tests.skips"]')
    pytester.makepyfile('import pytest\npytest.skip("not here", allow_module_level=True)')
    result = run(pytester)
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*lets no test pass without running*not here*"])
