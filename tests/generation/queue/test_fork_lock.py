"""A process that is forked while another thread uses SQLite can use the database."""

import pytest

from tests.generation.conftest import Child

SCRIPT = """
import django; django.setup()
import os, threading, time
from django.db import connection, transaction
from generation.queue import workers as heartbeat
from generation.models import Heartbeat

inside = threading.Event()

def sweep():
    with transaction.atomic():
        Heartbeat.objects.update(queues="held")
        inside.set()
        time.sleep(1)

heartbeat.sweep = sweep
heartbeat.Beating(queue="generation", processes=1).start()
assert inside.wait(60)
pid = os.fork()
if pid == 0:
    connection.settings_dict["OPTIONS"]["timeout"] = 2
    assert Heartbeat.objects.update(queues="forked") == 1
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert Heartbeat.objects.get().queues == "forked"
"""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_process_forked_during_a_heartbeat_can_use_the_database(child: Child) -> None:
    assert child("-c", SCRIPT).wait(60) == 0
