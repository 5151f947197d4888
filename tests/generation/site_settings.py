"""The settings of a whole site that a test runs, as its environment says, and a world more."""

from generation.engine.worlds import REGISTRY
from tests.generation import fake_world
from webapp.settings import *  # noqa: F403

REGISTRY[fake_world.NAME] = fake_world.WHERE
