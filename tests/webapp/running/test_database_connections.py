"""The number of connections to PostgreSQL: the sum for docker-compose.yml, and which threads open one."""

import re

from tests.webapp.commands import ROOT
from webapp.running.processes import DEFAULT_PROCESSES
from webapp.settings import VARIABLES

MAX_CONNECTIONS, FOR_SUPERUSERS = 100, 3  # PostgreSQL's defaults, which the image of docker-compose.yml has
WORKERS = 4  # containers of `worker` in the documentation's example
COMMANDS = 5  # for commands and for the operator
SPARE = 4  # connections of a web process besides those of its threads
THREAD = re.compile(r"\b(?:Thread|ThreadPoolExecutor)\(")

# Each place of the site that starts threads, with what they do with the database. A thread that opens a connection in a
# web process needs one of its `SPARE` connections, or has to close the connection when it ends.
THREADS = {
    "generation/asking/exchanges.py": "none: it waits for the look-up of a name, in a command",
    "generation/asking/question_run.py": "none: they ask a model, in a command",
    "generation/charts/drawing.py": "none: one thread runs the process that draws",
    "generation/engine/learners/training_process.py": "none: a process without Django",
    "generation/engine/render/blender_script.py": "none: a process without Django",
    "generation/queue/job_processes.py": "none: it waits for the end of another process",
    "generation/queue/leases.py": "not in web processes; it closes its connection after each renewal",
    "generation/queue/workers.py": "not in web processes; it closes its connection after each heartbeat",
    "webapp/backups/parallel_files.py": "none: files, in a command",
    "webapp/monitoring/health_probes.py": "none: one thread writes and reads a file",
}


def default_of(name: str) -> int:
    """Return the value of a variable in docker-compose.yml without settings."""
    found = re.search(rf"{name}: \$\{{{name}:-(\d*)\}}", (ROOT / "docker-compose.yml").read_text())
    assert found is not None
    return int(found[1] or next(variable.default for variable in VARIABLES if variable.name == name))


def test_the_processes_of_compose_need_fewer_connections_than_postgresql_has() -> None:
    web = default_of("WEB_PROCESSES") * (default_of("WEB_THREADS") + SPARE)
    generation, others = 2 * default_of("GENERATION_PROCESSES") + 1, 2 * DEFAULT_PROCESSES + 2
    worker = generation + others
    total = web + WORKERS * worker
    assert total + COMMANDS <= MAX_CONNECTIONS - FOR_SUPERUSERS
    docs = (ROOT / "webapp/docs/running.md").read_text()
    assert f"`WEB_PROCESSES` × (`WEB_THREADS` + {SPARE})" in docs
    assert f"{web} + {WORKERS} × {worker} = {total}" in docs


def test_each_place_that_starts_threads_is_known() -> None:
    folders = ("generation", "annotations", "webapp")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert {str(path.relative_to(ROOT)) for path in paths if THREAD.search(path.read_text())} == set(THREADS)
