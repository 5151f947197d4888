"""The Django app of the site itself: accounts, front page, documentation."""

from django.apps import AppConfig


class WebappConfig(AppConfig):
    name = "webapp"
    label = "webapp"
    verbose_name = "Site"
