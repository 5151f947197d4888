"""The settings of sites in fault tests: a slow world, and leases as short as the test sets them."""

from generation.engine.worlds import REGISTRY
from tests.faults import slow_world
from webapp.settings import *  # noqa: F403
from webapp.settings import INSTALLED_APPS

REGISTRY[slow_world.NAME] = slow_world.WHERE
INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults"]
