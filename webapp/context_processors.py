"""Variables that every template gets."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from generation.access import is_researcher
from generation.program_version import PROGRAM


def site(request: HttpRequest) -> dict[str, Any]:
    """Return the variables of the frame that all pages share."""
    return {
        "program": PROGRAM,
        "signup_open": settings.SIGNUP,
        "provider_name": settings.OIDC_NAME,
        "runs_studies": SimpleLazyObject(lambda: is_researcher(request.user)),
    }
