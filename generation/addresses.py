"""The address of this site, for links that leave it: in files, mails, and texts to be copied."""

from django.conf import settings
from django.http import HttpRequest


def site_address(request: HttpRequest) -> str:
    """Return PUBLIC_URL; without that setting, the address under which the site was asked. No slash at the end."""
    return settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
