"""Generation as a Django app: datasets, how they are made, stored and browsed."""

from django.apps import AppConfig


class GenerationConfig(AppConfig):
    """The generation app."""

    name = "generation"
