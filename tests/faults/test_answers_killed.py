"""kill -9 of the web server while people answer.

Every acknowledged answer is stored once, and the study can be finished.
"""

import os
import signal
import time
from contextlib import suppress

import pytest

from tests import proof
from tests.crowd import Crowd
from tests.faults.stack import Site
from tests.faults.studies import begin_study, check_consistent, check_finished, let_leases_end, plain, stored
from tests.faults.test_kills import CHILD, MAIN, WHOLE, chance

THINKING = (0.1, 0.6)  # seconds
LATER = 0.3  # seconds
REST = 0.8  # share of all answers that are stored after the last kill
PEOPLE_AFTER = 4


def kill_web(site: Site, what: str) -> None:
    """Kill the web server with all its processes, its main process alone, or one of the processes that answer."""
    if what == CHILD:
        with suppress(ProcessLookupError):
            os.kill(min(site.children("web")), signal.SIGKILL)
    else:
        site.kill("web", alone=what == MAIN)


@pytest.mark.full
def test_acknowledged_answers_survive_the_death_of_the_web_server(site: Site) -> None:
    questions = proof.size(1000, name=f"questions that were answered while gunicorn was killed, {site.stack}")
    kills, draw = proof.size(10), chance(site.stack)
    site.environment["WEB_PROCESSES"] = "2"
    code = begin_study(site, questions=questions)
    site.start("web")
    site.wait_for_web("/health/web/")
    crowd = Crowd(site.port, code, people=proof.size(200), patient=True, thinking=THINKING, undoes=0.05)
    crowd.begin()
    for number in range(kills):
        crowd.wait_for(int(3 * questions * REST * (number + 1) / (kills + 1)))
        time.sleep(draw.uniform(0, LATER))
        assert crowd.is_busy, "everybody was done before the kill"
        kill_web(site, (WHOLE, MAIN, CHILD)[number % 3])
        site.wait_for_web("/health/web/")
    crowd.wait_for(int(3 * questions * REST))
    crowd.leave()
    assert crowd.failures == []
    assert stored(site) == plain(crowd.acknowledged)
    check_consistent(site)
    let_leases_end(site)
    others = Crowd(site.port, code, people=PEOPLE_AFTER, patient=False, first=1000)
    others.begin()
    others.finish()
    assert others.failures == []
    assert stored(site) == plain(crowd.acknowledged | others.acknowledged)
    check_finished(site, questions=questions)
