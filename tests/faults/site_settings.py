"""The settings of a site that is about to suffer: a slow world, leases as short as the test wants them."""

from generation.engine.worlds import REGISTRY
from tests.faults import slow_world
from webapp.settings import *  # noqa: F403
from webapp.settings import INSTALLED_APPS

REGISTRY[slow_world.NAME] = slow_world.WHERE
INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults"]
