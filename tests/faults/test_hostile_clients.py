"""Clients that attack a running site: they report days of work, or send text that is slow to render."""

import html
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.annotations.visitors import CHOICE, FIELD
from tests.faults.browsers import Browser, File
from tests.faults.conftest import embedded
from tests.faults.stack import SLUG, Site
from tests.faults.studies import begin_study

A_DAY = 86_400_000  # milliseconds
HOURLY = 12.0
BRACKETS = "[" * 10_000
CPU = 10.0  # seconds for one page; rendering this text without a limit took minutes
ACTION = re.compile(r'<form method="post" action="(/s/[^"]+)"')
SECOND = """
from generation.making import dataset_jobs as jobs
from generation.models import Dataset
spec = json.loads(Dataset.objects.get(slug=given).spec)
jobs.work(dataset=jobs.start(spec, slug="second", visibility="public", images=False))
"""
STUDY = {
    "title": "Rows", "hourly_pay": f"{HOURLY}", "currency": "GBP", "instructions": "Read.", "completed": "DONE",
    "screened_out": "OUT", "full": "FULL", "lease_minutes": "10", "person_parameter": "PROLIFIC_PID",
    "study_parameter": "STUDY_ID", "session_parameter": "SESSION_ID",
}  # fmt: skip


class Served(NamedTuple):
    """A site with a running web server, the code of its open study, and a researcher's browser."""

    site: Site
    code: str
    grace: Browser

    def cpu(self) -> float:
        """Return the seconds of processor time of all processes of the site, including children that have ended."""
        ticks = 0
        for pid in self.site.alive():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(one) for one in fields[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def served(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give a running site with an open study and its dataset."""
    with embedded(migrated, tmp_path_factory.mktemp("hostile") / "var") as site:
        code = begin_study(site, questions=4)
        site.start("web")
        site.wait_for_web("/health/web/")
        grace = Browser([site])
        grace.sign_in()
        yield Served(site, code, grace)


def fields_of(page: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in FIELD.findall(page)}


def action_of(page: str) -> str:
    found = ACTION.search(page)
    assert found is not None, page
    return found[1]


def test_two_answers_that_report_a_day_each_are_paid_by_the_clock_of_the_site(served: Served) -> None:
    began, worker = time.monotonic(), Browser([served.site])
    status, page = worker.ask(0, f"/s/{served.code}/?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=v1")
    assert status == 200
    while "/on/" in action_of(page):
        status, page = worker.ask(0, action_of(page), fields_of(page))
        assert status == 200
    for _ in range(2):
        answer = html.unescape(CHOICE.findall(page)[0])
        status, page = worker.ask(
            0, action_of(page), {**fields_of(page), "answer": answer, "visible": str(A_DAY), "idle": "0"}
        )
        assert status == 200 and "did not work" not in page
    export = b"Submission id,Participant id,Status,Completion code,Time taken\nv1,p1,RETURNED,,\n"
    status, page = served.grace.ask(0, f"/studies/{served.code}/people/", {}, [File("file", "export.csv", export)])
    paid = re.search(r"p1,(\d+\.\d\d)", page)
    assert status == 200 and paid is not None
    assert 0 < float(paid[1]) <= HOURLY * (time.monotonic() - began) / 3600 + 0.01  # a fault once made this 576.00


@pytest.mark.parametrize("kind", ["method", "suite", "study"])
def test_ten_thousand_brackets_are_rendered_within_the_time_limit(served: Served, kind: str) -> None:
    path, form = {
        "method": ("/methods/new/", {"name": "Deep", "made": "trained", "description": BRACKETS}),
        "suite": (
            "/suites/new/",
            {"title": "Deep", "slug": "deep", "members": f"{SLUG}/train = a\nsecond/train = b", "is_public": "on",
             "description": BRACKETS},
        ),
        "study": (f"/studies/{served.code}/edit/", {**STUDY, "consent": BRACKETS}),
    }[kind]  # fmt: skip
    if kind == "suite":
        served.site.python(SECOND, SLUG)
    before = served.cpu()
    status, page = served.grace.ask(0, path, form)
    assert (status, "banner bad" in page) == (200, False), page
    if kind == "study":
        status, page = Browser([served.site]).ask(0, f"/s/{served.code}/")
    assert status == 200 and BRACKETS in page
    assert served.cpu() - before < CPU
    assert served.site.get("/health/live/")[0] == 200
