"""The site as a WSGI application, for gunicorn."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

application = get_wsgi_application()

from generation.making.warmup import load_for_pages  # noqa: E402  # it needs Django's settings

# All modules are loaded before the first request, and their objects are excluded from garbage collection. Otherwise,
# collecting the many objects of the compiler and the views would sometimes delay a page by a tenth of a second.
_ROUTES = get_resolver().url_patterns
load_for_pages()
gc.collect()
gc.freeze()
