"""Looking up the row that a unique key names."""

from typing import Any, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


def find_one(rows: "QuerySet[Row, Any]") -> Row | None:
    """Return the only row of a query by a unique key, or None if there is none.

    `first()` asks for an order, for which Django compares all selected columns. With related tables this takes as long
    as the rest of the query.
    """
    try:
        found: Row = rows.get()
    except ObjectDoesNotExist:
        return None
    return found
