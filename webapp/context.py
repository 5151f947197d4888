"""What every template may use."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """Return what the page frame shows."""
    return {"signup_open": settings.SIGNUP}
