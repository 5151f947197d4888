"""A crowd answers a study over HTTP: every question gets exactly the wanted number of answers."""

import pytest

from tests import proof
from tests.crowd import Crowd
from tests.faults.stack import Site
from tests.faults.studies import begin_study, check_finished, plain, stored

THINKING = (0.05, 0.35)  # seconds


@pytest.mark.full
def test_a_crowd_gives_each_question_exactly_the_wanted_number_of_answers(site: Site) -> None:
    questions = proof.size(1000, name=f"questions that a crowd answered over HTTP, {site.stack}")
    code = begin_study(site, questions=questions)
    site.start("web")
    site.wait_for_web("/health/web/")
    crowd = Crowd(site.port, code, people=proof.size(200), patient=False, thinking=THINKING, undoes=0.02)
    crowd.begin()
    crowd.finish()
    assert crowd.failures == []
    assert {person.got_code for person in crowd.people} <= {"DONE", "FULL"}
    assert stored(site) == plain(crowd.acknowledged)
    check_finished(site, questions=questions)
