"""Settings of the processes that tests start: they use the test's database and know the fake world."""

import os

from generation.engine.worlds import REGISTRY
from tests.generation import fake_world
from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, VAR_DIR

DATABASES["default"]["NAME"] = os.environ["HORSESENSE_TEST_DATABASE"]
REGISTRY[fake_world.NAME] = fake_world.WHERE
BROKER_FILE = VAR_DIR / "child-broker.sqlite3"
CELERY_BROKER_URL = f"sqlite:///{BROKER_FILE}"
