"""What a test without its service does: it skips, saying how to get it, or fails where services are demanded."""

import pytest

from tests.services import missing


def test_a_missing_service_is_a_skip_that_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HORSESENSE_REQUIRE_SERVICES", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Chromium: apt install chromium"):
        missing("Chromium", "apt install chromium")


def test_a_missing_service_is_a_failure_where_services_are_demanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORSESENSE_REQUIRE_SERVICES", "1")
    with pytest.raises(pytest.fail.Exception, match="no Chromium: apt install chromium"):
        missing("Chromium", "apt install chromium")
