"""The site as a WSGI application, for gunicorn."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

application = get_wsgi_application()

from generation.making.warmup import load_for_pages  # noqa: E402  # numba may be imported once the settings name its cache

# Everything is loaded before the first request, and excluded from garbage collection. With all that the compiler and
# the views load, a collection would sometimes delay a page by a tenth of a second.
_ROUTES = get_resolver().url_patterns
load_for_pages()
gc.collect()
gc.freeze()
