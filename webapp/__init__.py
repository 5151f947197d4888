"""The site: settings, accounts, front pages."""

from generation import __version__
from webapp.celery import app as celery_app

__all__ = ("__version__", "celery_app")
