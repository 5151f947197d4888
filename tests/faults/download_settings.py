"""The settings of a site with large downloads."""

from tests.faults.site_settings import *  # noqa: F403

ROOT_URLCONF = "tests.faults.downloads"
