"""A site left in peace makes a dataset on both stacks: what the other tests here compare with."""

from collections.abc import Callable
from typing import Any

from tests.faults.servers import PostgresCluster
from tests.faults.stack import SPEC, Site


def test_left_in_peace_a_site_makes_a_dataset(site: Site, undisturbed: Callable[[dict[str, Any]], str]) -> None:
    site.begin()
    site.start("web", "generation", "default", "beat")
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    assert (site.rows("chunk"), site.rows("scene"), site.rows("question")) == (12, 120, 360)
    site.check_stored_once()
    site.wait_for_web("/datasets/rows/")
    site.stop()
    site.wait_until(lambda: not site.alive(), what="every process to be gone")
    assert {name: process.starts for name, process in site.processes.items()} == dict.fromkeys(site.processes, 1)


def test_a_postgresql_of_ones_own_can_be_stopped(stoppable_site: Site, cluster: PostgresCluster) -> None:
    stoppable_site.begin()
    cluster.stop()
    cluster.start()
    assert stoppable_site.jobs(state="waiting") == 15
