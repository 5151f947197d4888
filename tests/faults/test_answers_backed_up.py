"""A backup while people answer a study.

The backup has every answer that was acknowledged before it began, and the restored study goes on from there.
"""

from collections.abc import Iterator

import pytest

from tests import proof
from tests.crowd import Crowd
from tests.faults.conftest import EMBEDDED, SETTINGS, on_services
from tests.faults.stack import Site
from tests.faults.studies import begin_study, check_consistent, check_finished, let_leases_end, plain, stored
from tests.webapp.commands import environment_of

THINKING = (1.0, 2.0)  # seconds; long enough that few people have finished before the backup is made


@pytest.fixture
def empty_site(site: Site, request: pytest.FixtureRequest) -> Iterator[Site]:
    """Give another site on the same stack, with an empty database and no files."""
    folder = site.folder.with_name("restored")
    if site.stack == EMBEDDED:
        folder.mkdir()
        other = Site(EMBEDDED, folder, environment_of(folder, **SETTINGS))
        yield other
        other.end()
        return
    redis, s3 = request.getfixturevalue("redis_process"), request.getfixturevalue("s3")
    other = on_services(request.getfixturevalue("postgres_url"), redis, s3, folder)
    yield other
    other.end()


@pytest.mark.full
def test_a_backup_during_load_has_the_answers_acknowledged_before_it(site: Site, empty_site: Site) -> None:
    questions = proof.size(1000, name=f"questions that were answered during a backup, {site.stack}")
    code = begin_study(site, questions=questions)
    site.start("web")
    site.wait_for_web("/health/web/")
    crowd = Crowd(site.port, code, people=proof.size(200), patient=False, thinking=THINKING, undoes=0.05)
    crowd.begin()
    crowd.wait_for(questions // 2)
    before, archive = plain(crowd.acknowledged), site.folder.with_name("site.tar")
    backup = site.manage("backup", str(archive))
    assert backup.returncode == 0, backup.stderr
    crowd.leave()
    assert crowd.failures == []
    restored = empty_site.manage("restore", str(archive))
    assert restored.returncode == 0, restored.stderr
    came_back = stored(empty_site)
    assert before.items() <= came_back.items() <= stored(site).items()
    assert len(came_back) < len(stored(site)), "nobody answered while the backup was made"
    check_consistent(empty_site)
    go_on(empty_site, crowd, questions=questions)


def go_on(site: Site, crowd: Crowd, *, questions: int) -> None:
    """Finish the study on the restored site.

    The participants whom the backup has go on with their links, and new ones come.
    """
    let_leases_end(site)
    site.start("web")
    site.wait_for_web("/health/web/")
    crowd.go_to(site.port)
    known = {secret for (secret,) in site.ask("SELECT secret FROM annotations_participant")}
    crowd.people = [person for person in crowd.people if person.address.split("/")[3] in known]
    assert crowd.people
    for person in crowd.people:
        person.done.clear()  # answers that the backup does not have are asked for again
        person.thinking = (0.0, 0.0)
    crowd.begin()
    others = Crowd(site.port, crowd.people[0].code, people=4, patient=False, first=1000)
    others.begin()
    crowd.finish()
    others.finish()
    assert crowd.failures + others.failures == []
    check_finished(site, questions=questions)
