"""The most important pages can be opened."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path", ["/", "/docs/", "/docs/settings/", "/health/", "/accounts/login/", "/accounts/signup/"]
)
def test_page_answers(client: Client, path: str) -> None:
    assert client.get(path).status_code == 200
