"""A run: several threads ask the questions, repeat failures and count the replies."""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from generation.asking.console import KEPT_ERROR, SECRETS, Interrupted, Refused, Unreachable, printable, say
from generation.asking.digests import as_json, sha256
from generation.asking.exchanges import LONGEST_BACKOFF, LONGEST_PAUSE, PAUSE
from generation.asking.forms import PlainForm
from generation.asking.model_server.limits import RequestGate, Sampling
from generation.asking.model_server.model_reply import (
    ANSWERED,
    CUT_OFF,
    FAILED,
    STATES,
    ModelReply,
    is_at_limit,
    tokens_in,
)
from generation.asking.model_server.server import ModelServer
from generation.asking.pictures import PictureStore
from generation.asking.questions import AskedQuestion
from generation.asking.reply_log import Kept, ReplyLog

IN_A_ROW = 20  # failed requests after which the script stops
BEAT = 1.0  # seconds between two lines of progress on a terminal
PARTS = 20  # lines of progress elsewhere, such as in a log
MILLION = 1_000_000
CROWDED, PASSING = (429, 503), (408, 409, 425)


class ModelRequest(NamedTuple):
    question: AskedQuestion
    variant: int
    epoch: int


class Tally:
    """The counts so far, for the lines of progress."""

    def __init__(self, total: int, *, prices: tuple[float, float] | None) -> None:
        self.total, self.prices = total, prices
        self.states: Counter[str] = Counter()
        self.tokens = [0, 0]
        self.asked = self.failed_in_a_row = 0
        self.began = time.monotonic()
        self.lock = threading.Lock()

    def add_usage(self, usage: Mapping[str, Any] | None) -> None:
        with self.lock:
            for at, count in enumerate(tokens_in(usage)):
                self.tokens[at] += count or 0

    def add(self, state: str, *, is_new: bool) -> None:
        with self.lock:
            self.states[state] += 1
            self.asked += is_new
            if is_new:  # replies from the disk say nothing about the server
                self.failed_in_a_row = self.failed_in_a_row + 1 if state == FAILED else 0

    def line(self) -> str:
        """Return the progress as one line."""
        done = sum(self.states.values())
        parts = [f"{done:,}/{self.total:,}", *(f"{state} {self.states[state]:,}" for state in STATES)]
        parts.append(f"tokens {self.tokens[0]:,} in, {self.tokens[1]:,} out")
        if self.prices is not None:
            parts.append(f"cost {self.cost():.4f} US dollars")
        if self.asked and done < self.total:
            parts.append(f"time left {duration((self.total - done) * (time.monotonic() - self.began) / self.asked)}")
        return "  ".join(parts)

    def cost(self) -> float:
        return cost_of(self.tokens, self.prices or (0.0, 0.0))


def cost_of(tokens: Sequence[int], prices: tuple[float, float]) -> float:
    # Prices are in US dollars for a million tokens.
    return (tokens[0] * prices[0] + tokens[1] * prices[1]) / MILLION


def duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 90 else f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


class QuestionRun:
    """Asks a model many questions, several at once, and stores each attempt."""

    def __init__(
        self, server: ModelServer, log: ReplyLog, pictures: PictureStore, *, gate: RequestGate, sampling: Sampling,
        tally: Tally, form: PlainForm, settings: argparse.Namespace,
    ) -> None:  # fmt: skip
        self.server, self.log, self.pictures, self.gate = server, log, pictures, gate
        self.sampling, self.tally, self.form, self.settings = sampling, tally, form, settings
        self.clock = gate.clock
        self.waiting: deque[ModelRequest] = deque()
        self.outcomes: dict[tuple[int, int, int], Kept] = {}
        self.trouble: BaseException | None = None
        self.working, self.lock, self.ended = 0, threading.Lock(), threading.Event()

    def run(self, requests: Iterable[ModelRequest]) -> bool:
        """Ask everything that has no reply yet; return False if the user stopped it."""
        self.waiting.extend(requests)
        count = min(self.settings.concurrency, max(1, len(self.waiting)))
        self.working = count
        for _ in range(count):
            threading.Thread(target=self._work, daemon=True).start()
        is_complete = self._watch()
        if self.trouble is not None:
            raise self.trouble
        return is_complete

    def _watch(self) -> bool:
        """Wait for the threads, and show the progress; after Ctrl-C, wait only for the requests that were sent."""
        try:
            self._wait()
        except KeyboardInterrupt:
            self.gate.stop()
            say("\nStopping after the replies to the requests that were sent. Press Ctrl-C again to stop at once.")
            try:
                self._wait()
            except KeyboardInterrupt:
                say("")
            return False
        return True

    def _wait(self) -> None:
        # Not with `Thread.join`, which takes a running thread for a dead one after Ctrl-C.
        shown, is_terminal = 0, sys.stderr.isatty()
        while not self.ended.wait(BEAT):
            part = PARTS * sum(self.tally.states.values()) // max(1, self.tally.total)
            if is_terminal:
                sys.stderr.write(f"\r\x1b[K{self.tally.line()}")
                sys.stderr.flush()
            elif part != shown:
                shown = part
                say(self.tally.line())
        say(f"\r\x1b[K{self.tally.line()}" if is_terminal else self.tally.line())

    def _work(self) -> None:
        try:
            while not self.gate.is_stopped:
                try:
                    request = self.waiting.popleft()
                except IndexError:
                    return
                self._settle(request)
        except Interrupted:
            return
        except BaseException as error:  # the main thread raises it again
            self.trouble = self.trouble or error
            self.gate.stop()
        finally:
            self.server.leave()
            with self.lock:
                self.working -= 1
                if not self.working:
                    self.ended.set()

    def _settle(self, request: ModelRequest) -> None:
        """Get the reply to a request, from the disk or from the server."""
        key = self.key_of(request)
        kept = self.log.done.get((request.question.number, key))
        is_new = kept is None
        if kept is None:
            found = self._ask(request, key)
            kept = Kept(found.state, found.reply and SECRETS.text(found.reply))  # as it is stored
        self.outcomes[request.question.number, request.variant, request.epoch] = kept
        self.tally.add(kept.state, is_new=is_new)
        if self.tally.failed_in_a_row >= max(IN_A_ROW, 2 * self.settings.concurrency):
            raise Unreachable(
                f"Expected replies from {self.server.address}, got {self.tally.failed_in_a_row} failures in a row, the "
                f"last one: {printable(found.error)}. Continue later with --resume."
            )

    def prompt_of(self, request: ModelRequest) -> str:
        return self.form.variants(request.question)[request.variant].prompt

    def key_of(self, request: ModelRequest) -> str:
        # A request with the same key as an earlier one is not sent again.
        picture = [self.pictures.sum_of(request.question), str(self.pictures.scale or 1)]
        prompt = self.prompt_of(request)
        return sha256(as_json([self.settings.model, prompt, picture, self.sampling.wanted, request.epoch]))

    def _ask(self, request: ModelRequest, key: str) -> ModelReply:
        """Ask until there is a reply that is not a failure, or the retries are used up."""
        attempt = failures = 0
        while True:
            attempt += 1
            sent = dict(self.sampling.sent)
            body = self.body_of(request, sent)
            entered, began = self.gate.enter(), self.clock.now()
            found = ModelReply(FAILED, error="not sent")
            pause = min(LONGEST_BACKOFF, PAUSE * 2**failures) * random.uniform(0.5, 1)  # noqa: S311 - only a pause
            try:
                found = self.server.ask(body, now=self.clock.date)
                if found.state == ANSWERED and not found.finish_reason and is_at_limit(found.usage, sent):
                    found = found._replace(state=CUT_OFF)
                latency = self.clock.now() - began
                pause = found.wait or pause
                self.log.add(self._record(request, found, key=key, attempt=attempt, body=body, latency=latency))
                self.tally.add_usage(found.usage)
            finally:
                is_crowded = found.status in CROWDED
                self.gate.leave(entered, is_crowded=is_crowded, is_good=found.status == 200, pause=pause)
            if found.state != FAILED:
                return found
            if self._is_dropped(found, sent):
                continue
            self._check_passing(found, pause)
            failures += 1
            if failures > self.settings.retries:
                return found
            if not is_crowded:
                self.clock.wait(pause)

    def _is_dropped(self, found: ModelReply, sent: Mapping[str, Any]) -> bool:
        return found.status in (400, 422) and self.sampling.drop(found.error or "", sent) is not None

    def _check_passing(self, found: ModelReply, pause: float) -> None:
        """Raise `Refused` for a failure that a later attempt can't change."""
        status, said = found.status, printable(found.error, KEPT_ERROR)
        if status is not None and status != 200 and status < 500 and status not in (429, *PASSING):
            raise Refused(f"{self.server.address} refuses the request ({status}): {said}")
        if status == 429 and "insufficient_quota" in said:
            raise Refused(f"{self.server.address} refuses further requests ({status}): {said}")
        if found.wait is not None and pause > LONGEST_PAUSE:
            raise Refused(f"{self.server.address} asks to wait {duration(pause)}: continue later with --resume.")

    def body_of(self, request: ModelRequest, sent: Mapping[str, Any]) -> bytes:
        """Return the body of a request."""
        address = self.pictures.address_of(request.question)
        content: Any = self.prompt_of(request)
        if address is not None:
            picture = {"type": "image_url", "image_url": {"url": address}}
            content = [picture, {"type": "text", "text": content}]
        message = {"role": "user", "content": content}
        return as_json({"model": self.settings.model, "messages": [message], "stream": False, **sent})

    def _record(
        self, request: ModelRequest, found: ModelReply, *, key: str, attempt: int, body: bytes, latency: float
    ) -> dict[str, Any]:
        """Return the line of an attempt."""
        seconds, thousandths = divmod(time.time_ns() // 10**6, 1000)
        return {
            "time": time.strftime(f"%Y-%m-%dT%H:%M:%S.{thousandths:03}Z", time.gmtime(seconds)),
            "split": self.settings.split,
            "question": request.question.number,
            "form": self.settings.form,
            "variant": request.variant,
            "epoch": request.epoch,
            "attempt": attempt,
            "key": key,
            "request": sha256(body),
            "picture": self.pictures.sum_of(request.question),
            "scale": None if self.pictures.scale is None else str(self.pictures.scale),
            "model": self.settings.model,
            "dropped": list(self.sampling.dropped),
            "latency": round(latency, 3),
            **{name: value for name, value in found._asdict().items() if name != "wait"},
        }
