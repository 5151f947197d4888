"""The site's settings for tests. All files that tests make are in a temporary folder."""

import atexit
import math
import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")

if "HORSESENSE_TEST_DIR" not in os.environ:
    os.environ["HORSESENSE_TEST_DIR"] = tempfile.mkdtemp(prefix="horsesense-tests-")
    atexit.register(shutil.rmtree, os.environ["HORSESENSE_TEST_DIR"], ignore_errors=True)
os.environ["VAR_DIR"] = str(Path(os.environ["HORSESENSE_TEST_DIR"], WORKER))
# The cache is shared by all runs, because compiling again would take minutes.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / "var" / "numba"))
TAKEN_OUT = (
    "REDIS_URL",
    "MEDIA_ROOT",
    "PUBLIC_URL",
    "ALLOWED_HOSTS",
    "SECRET_KEY",
    "DEBUG",
    "EMAIL_URL",
    "OIDC_SERVER_URL",
)
ON_SERVICES = os.environ.get("HORSESENSE_TEST_ON_SERVICES") == "1"  # services that the environment names
for _name in TAKEN_OUT:
    if not (_name == "REDIS_URL" and ON_SERVICES):
        os.environ.pop(_name, None)

from webapp.settings import *  # noqa: E402, F403
from webapp.settings import BROKER_FILE, DATABASES, INSTALLED_APPS, VAR_DIR  # noqa: E402

if "sqlite" in DATABASES["default"]["ENGINE"]:
    # A file, as on real sites: threads and processes share the data, and locks are real.
    DATABASES["default"]["TEST"] = {"NAME": VAR_DIR / "tests.sqlite3"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
INSTALLED_APPS = [*INSTALLED_APPS, "tests.referring"]
HEALTH_SECONDS = 0
CHART_SECONDS = 100  # long, because the machine may be busy
WHITENOISE_AUTOREFRESH = True  # else each client of a test reads the names of all static files
STARTUP_SECONDS = math.inf  # there are no background processes
if not ON_SERVICES:  # a Redis cache would keep the counts of the run before
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
VAR_DIR.mkdir(parents=True, exist_ok=True)
BROKER_FILE.touch()  # processes of a site do this when they start
