"""People who take part in a study of a running site. Each is a thread that acts like a browser and uses only pages.

    crowd = Crowd(port, code, people=10, patient=True)
    crowd.begin()                           all follow the link and answer without pause
    crowd.wait_for(100)                     wait until 100 answers are acknowledged
    crowd.leave()                           all close the browser between two answers
    crowd.finish()                          wait until all have a completion code
    crowd.people[0].acknowledged            the answers that the site acknowledged: client id -> answer

Half of them send forms, half act like the page's script and ask for JSON. If a request gets no answer, a patient person
sends it again with the same client id, as the browser does. For an impatient person, this is a failure. With
`outages=True`, the status 503 (a part of the site is away) counts as no answer.
"""

import html
import http.client
import json
import random
import re
import threading
import time
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlencode

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')
CHOICE = re.compile(r'name="answer" value="([^"]*)"')
PAIR = re.compile(r'name="(pair-\d+)"')
CODE = re.compile(r'<p class="code-given"><code>([^<]*)</code>')
AGAIN = "?again=1"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Accept": "application/json"}
SERVER_ERROR, UNAVAILABLE = 500, 503
RETRY = 0.1  # seconds
PATIENCE = 600.0  # seconds


class Reply(NamedTuple):
    """The site's answer: its status, the address of a redirect, and its body."""

    status: int
    location: str
    body: str


@dataclass
class Person:
    """A participant, and the answers and failures so far."""

    port: int
    code: str
    number: int
    patient: bool
    thinking: tuple[float, float] = (0.0, 0.0)
    undoes: float = 0.0  # share of answers that are taken back
    outages: bool = False  # whether parts of the site may be away
    address: str = ""
    page: str = ""
    got_code: str = ""
    acknowledged: dict[str, str] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)
    leaving: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.chance = random.Random(f"{self.code} {self.number}")
        self.is_script = self.number % 2 == 1

    def take_part(self) -> None:
        """Answer until the site gives a completion code, or until `leaving` is set."""
        try:
            if not self.address:
                self._join()
            self.page = self._ask("GET", self.address).body
            while not self.leaving.is_set() and (fields := self._fields()):
                if choices := CHOICE.findall(self.page):
                    self._answer(fields, html.unescape(self.chance.choice(choices)))
                else:
                    self._go_on(fields)
            found = CODE.search(self.page)
            self.got_code = html.unescape(found[1]) if found else ""
        except Exception as error:  # an error in a thread would not fail the test
            self.failures.append(f"person {self.number}: {type(error).__name__}: {error}")

    def _join(self) -> None:
        time.sleep(self.thinking[1] * self.chance.random())
        reply = self._ask("GET", f"/s/{self.code}/?PROLIFIC_PID=p{self.number}&SESSION_ID=s{self.number}")
        assert reply.location.startswith("/s/"), reply
        self.address = reply.location

    def _fields(self) -> dict[str, str]:
        return {name: html.unescape(value) for name, value in HIDDEN.findall(self.page)}

    def _go_on(self, fields: dict[str, str]) -> None:
        sent = {**fields, **dict.fromkeys(PAIR.findall(self.page), "same")}
        self._expect(self._ask("POST", f"{self.address}on/", sent), 303)
        self.page = self._ask("GET", self.address).body

    def _answer(self, fields: dict[str, str], text: str) -> None:
        """Think, send an answer, and read the next page."""
        time.sleep(self.chance.uniform(*self.thinking))
        self._send(fields, text)

    def _send(self, fields: dict[str, str], text: str) -> None:
        if fields["token"] in self.done and fields["turn"] == "0":
            self.failures.append(f"person {self.number} is asked again")
        headers = JSON if self.is_script else {}
        reply = self._ask("POST", f"{self.address}answer/", {**fields, "answer": text}, headers)
        self._expect(reply, 200 if self.is_script else 303)
        following = json.loads(reply.body) if self.is_script else {"saved": fields["client"]}
        assert following["saved"] == fields["client"], following
        self.acknowledged[fields["client"]] = text
        self.done.add(fields["token"])
        if self.chance.random() < self.undoes:
            self.page = self._ask("GET", self.address + AGAIN).body
        else:
            self.page = following.get("page") or self._ask("GET", self.address).body

    def _expect(self, reply: Reply, status: int) -> None:
        assert reply.status == status, f"expected {status}, got {reply.status}: {reply.body[-300:]}"

    def _ask(
        self, method: str, address: str, form: dict[str, str] | None = None, headers: dict[str, str] | None = None
    ) -> Reply:
        """Return the site's answer; a patient person repeats the request until there is one."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                reply = self._ask_once(method, address, form, headers or {})
            except (OSError, http.client.HTTPException) as error:
                if not self.patient or time.monotonic() > end:
                    raise
                del error
            else:
                if reply.status >= SERVER_ERROR and not (self.outages and reply.status == UNAVAILABLE):
                    self.failures.append(f"person {self.number}: {method} {address}: {reply.status}")
                if reply.status < SERVER_ERROR or not self.patient:
                    return reply
            time.sleep(RETRY)

    def _ask_once(self, method: str, address: str, form: dict[str, str] | None, headers: dict[str, str]) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            body = None if form is None else urlencode(form)
            connection.request(method, address, body, {**headers, **({} if form is None else FORM)})
            response = connection.getresponse()
            return Reply(response.status, response.headers.get("Location", ""), response.read().decode())
        finally:
            connection.close()


class Crowd:
    """Several participants at the same time."""

    def __init__(
        self, port: int, code: str, *, people: int, patient: bool, first: int = 0,
        thinking: tuple[float, float] = (0.0, 0.0), undoes: float = 0.0, outages: bool = False,
    ) -> None:  # fmt: skip
        numbers = range(first, first + people)
        self.people = [Person(port, code, number, patient, thinking, undoes, outages=outages) for number in numbers]
        self.threads: list[threading.Thread] = []

    def begin(self) -> None:
        """Start all participants, or continue those who left."""
        for person in self.people:
            person.leaving.clear()
        self.threads = [threading.Thread(target=person.take_part, daemon=True) for person in self.people]
        for thread in self.threads:
            thread.start()

    @property
    def acknowledged(self) -> dict[str, str]:
        """Return all answers that the site acknowledged as saved."""
        return {client: text for person in self.people for client, text in person.acknowledged.copy().items()}

    @property
    def failures(self) -> list[str]:
        """Return the failures of all participants."""
        return [failure for person in self.people for failure in person.failures]

    @property
    def is_busy(self) -> bool:
        """Return whether a participant is still answering."""
        return any(thread.is_alive() for thread in self.threads)

    def wait_for(self, count: int) -> None:
        """Wait until `count` answers are acknowledged, or all participants are gone."""
        while self.is_busy and len(self.acknowledged) < count:
            time.sleep(0.01)

    def leave(self) -> None:
        """Make all participants close the browser between two answers, and wait for it."""
        for person in self.people:
            person.leaving.set()
        self.finish()

    def finish(self) -> None:
        """Wait until all participants are gone."""
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), f"somebody is still there after {PATIENCE:.0f} s"

    def go_to(self, port: int) -> None:
        """Move all participants to another port."""
        for person in self.people:
            person.port = port
