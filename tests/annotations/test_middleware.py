"""Whoever answers below a study's address, the address stays there."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/s/", "/s/x/y/z/", "/s/x/y/z/?PROLIFIC_PID=p1", "/s/x"])
def test_answers_of_the_site_itself_are_private_there(address: str) -> None:
    response = Client().get(address)
    assert response.status_code in (301, 404)
    assert (response["Referrer-Policy"], response["Cache-Control"]) == ("no-referrer", "no-store")


@pytest.mark.parametrize("address", ["/", "/studies/", "/docs/s/", "/sx/"])
def test_other_answers_are_as_they_were(address: str) -> None:
    assert Client().get(address)["Referrer-Policy"] == "same-origin"
