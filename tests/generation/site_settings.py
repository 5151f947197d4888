"""Settings of a whole site that a test runs: those that its environment gives, and the fake world in addition."""

from generation.engine.worlds import REGISTRY
from tests.generation import fake_world
from webapp.settings import *  # noqa: F403

REGISTRY[fake_world.NAME] = fake_world.WHERE
