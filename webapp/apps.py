"""The site itself as a Django app: accounts, front pages, documentation."""

from django.apps import AppConfig


class WebappConfig(AppConfig):
    """The site's own app."""

    name = "webapp"
    label = "webapp"
    verbose_name = "Site"
