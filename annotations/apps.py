"""Annotations as a Django app: answers that people give, and the human baseline."""

from django.apps import AppConfig


class AnnotationsConfig(AppConfig):
    """The annotations' app."""

    name = "annotations"
