"""Every response below a study's address keeps this address private: it is not cached and not sent as a referrer."""

import pytest
from django.conf import LazySettings
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/s/", "/s/x/y/z/", "/s/x/y/z/?PROLIFIC_PID=p1", "/s/x"])
def test_redirects_and_404_are_private_below_the_address_of_a_study(address: str) -> None:
    response = Client().get(address)
    assert response.status_code in (301, 404)
    assert (response["Referrer-Policy"], response["Cache-Control"]) == ("no-referrer", "no-store")


@pytest.mark.parametrize("address", ["/", "/studies/", "/docs/s/", "/sx/"])
def test_other_responses_are_unchanged(address: str) -> None:
    assert Client().get(address)["Referrer-Policy"] == "same-origin"


def test_the_page_for_server_errors_is_private_below_the_address_of_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*parts: object) -> None:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr("annotations.views.private_pages.participant_at", broken)
    response = Client(raise_request_exception=False).get("/s/code/secret/")
    assert response.status_code == 500
    assert (response["Referrer-Policy"], response["Cache-Control"]) == ("no-referrer", "no-store")


def test_a_refused_large_upload_is_private_below_the_address_of_a_study(settings: LazySettings) -> None:
    settings.UPLOAD_MB = 1
    response = Client().post("/s/code/secret/answer/", {"answer": "x" * 1_000_000})
    assert response.status_code == 413
    assert (response["Referrer-Policy"], response["Cache-Control"]) == ("no-referrer", "no-store")
