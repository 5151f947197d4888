"""The rule for streaming responses finds an open cursor and an open transaction."""

from collections.abc import Iterator

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import StreamingHttpResponse

User = get_user_model()

pytestmark = pytest.mark.django_db


@pytest.fixture
def names() -> list[str]:
    users = [User(username=f"user-{number}") for number in range(20)]
    return [user.username for user in User.objects.bulk_create(users)]


def test_rows_of_an_open_cursor_are_found(names: list[str]) -> None:
    rows = User.objects.order_by("pk").values_list("username", flat=True).iterator(chunk_size=2)
    with pytest.raises(AssertionError, match="holds a cursor"):
        StreamingHttpResponse(rows).getvalue()
    rows.close()


def test_an_open_transaction_is_found(names: list[str]) -> None:
    def pieces() -> Iterator[str]:
        with transaction.atomic():
            yield from names

    with pytest.raises(AssertionError, match="holds a transaction"):
        StreamingHttpResponse(pieces()).getvalue()


def test_rows_that_are_read_in_parts_are_allowed(names: list[str]) -> None:
    rows = User.objects.order_by("pk").values_list("username", flat=True)
    parts = (name for first in range(0, len(names), 3) for name in rows[first : first + 3])
    assert StreamingHttpResponse(parts).getvalue().decode() == "".join(names)
