"""Small hostile files, uploaded to a running site: no process takes much memory or time, and the site goes on."""

import itertools
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import proof
from tests.faults.browsers import Browser, File
from tests.faults.stack import SLUG, Site
from tests.faults.studies import begin_study
from tests.generation.hostile_specs import DIGEST, SPECS
from tests.generation.pages.test_importing import HOSTILE as IMPORTS
from tests.leaderboards.test_hostile_files import ZOO

MB = 1_000_000
LARGEST, MOST_MEMORY, MOST_SECONDS = MB, 500 * MB, 10.0
TICK = 100.0  # units per second in which the kernel counts processor time
WAIT = 120.0
IMPORTS_IN_SHORT = {"200 KB of brackets", "a number of 100,000 digits"}
SPECS_IN_SHORT = {"families of brackets"}
PREDICTIONS_IN_SHORT = {"names twice, 140 KB", "wide rows in a zip"}
EXPORT = b"Submission id,Participant id,Status,Completion code,Time taken"
PAYMENTS = {
    "many columns": EXPORT + b"," + b",".join(b"c%d" % number for number in range(90_000)) + b"\n" + b"a\n" * 150_000,
    "a long cell": EXPORT + b'\n"' + b"a" * 900_000 + b'"',
    "quotes": EXPORT + b"\n" + b'"' * 900_000,
}
METHOD = """
from webapp.leaderboards.models import Method
from webapp.models import User
print(Method.objects.create(name="Hostile", owner=User.objects.get(username="grace")).pk, end="")
"""


class Taken(NamedTuple):
    """The peak memory of a process in bytes, and its processor time in seconds."""

    memory: int
    seconds: float


class Meter:
    """Measures memory and processor time of each process of a site, many times a second."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.first: dict[int, Taken] = {}
        self.last: dict[int, Taken] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure during the block. Processes that run already are measured from its beginning."""
        self.first, self.last = {}, {}
        for pid in self.site.alive():
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")  # resets the peak of memory
                self.first[pid] = measure(pid)
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=[over])
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _watch(self, over: threading.Event) -> None:
        while True:
            is_last = over.wait(0.02)
            for pid in self.site.alive():
                with suppress(OSError, IndexError):  # the process has ended meanwhile
                    self.last[pid] = measure(pid)
            if is_last:
                return

    def most(self) -> Taken:
        """Return the largest peak of memory and the longest processor time of any process."""
        began = {pid: one.seconds for pid, one in self.first.items()}
        seconds = [one.seconds - began.get(pid, 0.0) for pid, one in self.last.items()]
        return Taken(max(one.memory for one in self.last.values()), max(seconds))


def measure(pid: int) -> Taken:
    status = Path(f"/proc/{pid}/status").read_text()
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    return Taken(int(peak[1]) * 1024 if peak else 0, (int(times[11]) + int(times[12])) / TICK)


class Attack(NamedTuple):
    """A kind of upload: `send` uploads a file, waits until the site is done, and returns its message.

    `files` are functions that make the hostile files, by name. `message` is a part of each expected message.
    """

    send: Callable[[bytes], str]
    files: dict[str, Callable[[], bytes]]
    message: str


def short_proof_filter(names: set[str]) -> Callable[[str], bool]:
    return lambda name: proof.SHARE == 1 or name in names


@pytest.fixture
def browser(embedded_site: Site) -> Browser:
    """Give a researcher's browser on a running site with background processes."""
    site = embedded_site
    site.environment["DAILY_SUBMISSIONS"] = "1000"
    browser = Browser([site])
    site.start("web", "generation", "default")
    site.wait_for_web("/health/ready/")
    browser.sign_in()
    return browser


@pytest.mark.full
def test_no_small_file_takes_500_megabytes_or_10_seconds(embedded_site: Site, browser: Browser) -> None:
    site = embedded_site
    meter = Meter(site)
    for attack in (imports(site, browser), specs(browser), predictions(site, browser), payments(site, browser)):
        for name, made in attack.files.items():
            content = made()
            assert len(content) <= LARGEST, name
            with meter.running():
                said = attack.send(content)
            assert attack.message in said, (name, said[:2000])
            most = meter.most()
            assert most.memory < MOST_MEMORY and most.seconds < MOST_SECONDS, (name, most)
            assert browser.ask(0, "/datasets/")[0] == 200
    assert all(process.starts == 1 for process in site.processes.values())
    query = "SELECT slug FROM generation_dataset"
    site.wait_until(lambda: site.ask(query) == [(SLUG,)], what="the deletion of what was refused")


def imports(site: Site, browser: Browser) -> Attack:
    numbers = itertools.count()

    def send(content: bytes) -> str:
        about = {
            "format": "clevr",
            "slug": f"theirs-{next(numbers)}",
            "visibility": "private",
            "title": "",
            "licence": "",
        }
        status, page = browser.ask(0, "/datasets/new/import/", about, [File("files", "q.json", content)])
        assert status == 200, re.findall(r"errorlist.*", page)
        path = browser.address.partition(f":{site.port}")[2]
        site.wait_until(lambda: "Nothing was kept" in browser.ask(0, path)[1], what="a refusal", seconds=WAIT)
        return browser.ask(0, path)[1]

    keep = short_proof_filter(IMPORTS_IN_SHORT)
    files: dict[str, Callable[[], bytes]] = {
        name: lambda content=content: content for name, (content, _) in IMPORTS.items() if keep(name)
    }
    return Attack(send, files, "Nothing was kept")


def specs(browser: Browser) -> Attack:
    browser.ask(0, "/datasets/new/")
    kinds = {name: "wedge.obj" if "vocabulary" in text else "mine.json" for name, (text, _) in SPECS.items()}
    keep = short_proof_filter(SPECS_IN_SHORT)
    contents = {(text if not content else content.decode()).encode(): name for name, (text, content) in SPECS.items()}

    def send(sent: bytes) -> str:
        name = contents[sent]
        text, content = SPECS[name]
        shown = text.replace(DIGEST, kinds[name])
        form = {"shown": "{}", "spec": shown, "action": "preview", "slug": "mine", "visibility": "private"}
        status, page = browser.ask(0, "/datasets/new/", form, [File("files", kinds[name], content)] if content else [])
        assert status in (200, 400), status
        return page

    files: dict[str, Callable[[], bytes]] = {
        name: lambda content=content: content for content, name in contents.items() if keep(name)
    }
    return Attack(send, files, "<h1")


def predictions(site: Site, browser: Browser) -> Attack:
    begin_study(site, questions=60)
    method = site.python(METHOD)
    address = f"/submissions/new/?to={SLUG}/train"

    def send(content: bytes) -> str:
        status, page = browser.ask(0, address, {"method": method, "check": "1"}, [File("file", "a.json", content)])
        assert status in (413, 422, 503), page
        [(before,)] = site.ask("SELECT count(*) FROM leaderboards_submission")
        status, page = browser.ask(0, address, {"method": method}, [File("file", "a.json", content)])
        if status == 413:
            return page
        assert status == 200, re.findall(r"errorlist.*", page)
        assert site.ask("SELECT count(*) FROM leaderboards_submission") == [(before + 1,)]
        query = "SELECT message FROM leaderboards_submission WHERE state = 'failed' ORDER BY id"
        site.wait_until(
            lambda: not site.ask("SELECT 1 FROM leaderboards_submission WHERE state IN ('waiting', 'running')"),
            what="a refusal",
            seconds=WAIT,
        )
        return str(site.ask(query)[-1][0])

    keep = short_proof_filter(PREDICTIONS_IN_SHORT)
    return Attack(send, {name: made for name, made in ZOO.items() if keep(name)}, "Format: /docs/predictions/")


def payments(site: Site, browser: Browser) -> Attack:
    [(code,)] = site.ask("SELECT code FROM annotations_study")

    def send(content: bytes) -> str:
        status, page = browser.ask(0, f"/studies/{code}/people/", {}, [File("file", "export.csv", content)])
        assert status in (200, 400), status
        return page

    files: dict[str, Callable[[], bytes]] = {
        name: lambda content=content: content for name, content in PAYMENTS.items()
    }
    return Attack(send, files, "<h1")
