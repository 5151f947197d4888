"""A run: several threads ask the questions, repeat failures and count the replies."""

from __future__ import annotations

import argparse
import random
import re
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
from generation.asking.model_server.errors import CROWDED, QUESTION, STOP
from generation.asking.model_server.interfaces import request_body
from generation.asking.model_server.limits import RequestGate, Sampling
from generation.asking.model_server.model_reply import (
    ANSWERED,
    CUT_OFF,
    FAILED,
    REFUSED,
    STATES,
    ModelReply,
    is_at_limit,
    tokens_in,
)
from generation.asking.model_server.server import ModelServer
from generation.asking.pictures import PictureStore
from generation.asking.questions import AskedQuestion
from generation.asking.reply_log import Kept, ReplyLog

IN_A_ROW = 20  # failed or refused requests after which the script stops
FIRST_REFUSALS = 3  # questions that the server may refuse before it has answered any
MOST_REASONS = 50  # different reasons of failures that are printed
BEAT = 1.0  # seconds between two lines of progress on a terminal
PARTS = 20  # lines of progress elsewhere, such as in a log
MILLION = 1_000_000
DIGITS = re.compile(r"\d+")


HINTS: Mapping[int, str] = {
    401: "put the server's key into the variable that --key-from names",
    404: "check --model and --base-url, which often ends in /v1",
}


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
        self.asked = self.troubles_in_a_row = 0
        self.reasons: Counter[str] = Counter()
        self.began = time.monotonic()
        self.lock = threading.Lock()

    def add_usage(self, usage: Mapping[str, Any] | None) -> None:
        with self.lock:
            for at, count in enumerate(tokens_in(usage)):
                self.tokens[at] += count or 0

    def add(self, state: str, *, is_new: bool, is_trouble: bool = False) -> None:
        with self.lock:
            self.states[state] += 1
            self.asked += is_new
            if is_new:  # replies from the disk say nothing about the server
                self.troubles_in_a_row = self.troubles_in_a_row + 1 if is_trouble else 0

    def is_worth_saying(self, reason: str) -> int:
        """Count a reason of a failure; return how often there was one like it, or 0 if it need not be said again."""
        alike = DIGITS.sub("0", reason)
        with self.lock:
            if alike not in self.reasons and len(self.reasons) >= MOST_REASONS:
                return 0
            self.reasons[alike] += 1
            count = self.reasons[alike]
        return count if count in (1, 10, 100, 1000, 10_000, 100_000) else 0

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
        self.postponed: list[ModelRequest] = []  # refused before the server had answered any question
        self.last_refusal = ModelReply(FAILED)
        self.is_answering = settings.model in log.answering
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
        if is_complete and self.postponed and self.trouble is None:
            self.trouble = self._refusal(self.last_refusal)
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
        if kept is not None:
            self.outcomes[request.question.number, request.variant, request.epoch] = kept
            self.tally.add(kept.state, is_new=False)
            return
        found = self._ask(request, key)
        if found.state == FAILED and found.kind == QUESTION:
            self._postpone(request, found)
            return
        kept = Kept(found.state, found.reply and SECRETS.text(found.reply), found.error)  # as it is stored
        self.outcomes[request.question.number, request.variant, request.epoch] = kept
        self.tally.add(kept.state, is_new=True, is_trouble=bool(found.kind))
        if not found.kind:
            self._go_on_with_postponed()
        most = self.settings.stop_after or max(IN_A_ROW, 2 * self.settings.concurrency)
        if self.tally.troubles_in_a_row >= most:
            raise Unreachable(
                f"Expected replies from {self.server}, got {self.tally.troubles_in_a_row} failed or refused requests "
                f"in a row, the last one: {printable(found.error)}. Continue later with --resume; --stop-after sets "
                "how many end the run."
            )

    def _postpone(self, request: ModelRequest, found: ModelReply) -> None:
        """Keep a refused request for later: until the server answers a question, every request may be wrong."""
        with self.lock:
            if self.is_answering:
                self.waiting.append(request)
                return
            self.postponed.append(request)
            self.last_refusal = found
            is_over = len({one.question.number for one in self.postponed}) >= FIRST_REFUSALS
        if is_over or self.sampling.setting_named(found.error or "", self.sampling.sent):
            raise self._refusal(found)

    def _go_on_with_postponed(self) -> None:
        with self.lock:
            self.is_answering = True
            self.waiting.extend(self.postponed)
            self.postponed.clear()

    def _refusal(self, found: ModelReply) -> Refused:
        said = printable(found.error, KEPT_ERROR)
        hint = self.sampling.setting_named(said, self.sampling.sent) or HINTS.get(found.status or 0)
        return Refused(
            f"{self.server} refuses the request ({found.status or 'no status'}): {said}"
            + (f". What to do: {hint}." if hint else "")
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
            found, is_changed = ModelReply(FAILED, error="not sent"), False
            pause = min(LONGEST_BACKOFF, PAUSE * 2**failures) * random.uniform(0.5, 1)  # noqa: S311 - only a pause
            try:
                found = self.server.ask(body, now=self.clock.date)
                if found.state == ANSWERED and not found.finish_reason and is_at_limit(found.usage, sent):
                    found = found._replace(state=CUT_OFF)
                if found.kind == QUESTION:
                    is_changed = self.sampling.fall_back(found.error or "", sent)
                    if self.is_answering and not is_changed:
                        found = found._replace(state=REFUSED)
                latency = self.clock.now() - began
                pause = found.wait or pause
                self.log.add(self._record(request, found, key=key, attempt=attempt, body=body, latency=latency))
                self.tally.add_usage(found.usage)
            finally:
                is_crowded = found.kind == CROWDED
                self.gate.leave(entered, is_crowded=is_crowded, is_good=not found.kind, pause=pause)
            if is_changed:
                continue
            self._say_trouble(request, found)
            if found.state != FAILED or found.kind == QUESTION:
                return found
            self._check_passing(found, pause)
            failures += 1
            if failures > self.settings.retries:
                return found
            if not is_crowded:
                self.clock.wait(pause)

    def _say_trouble(self, request: ModelRequest, found: ModelReply) -> None:
        """Print the reason of a failure when it comes first, and then at the 10th, 100th, ... time."""
        reason = printable(found.error)
        count = self.tally.is_worth_saying(reason) if found.kind else 0
        if count:
            state = REFUSED if found.kind == QUESTION else found.state
            state = f"{state} ({found.status})" if found.status else state
            again = f" ({count:,} times so far)" if count > 1 else ""
            say(f"Question {request.question.number} {state}: {reason}{again}")

    def _check_passing(self, found: ModelReply, pause: float) -> None:
        """Raise `Refused` for a failure that a later attempt can't change."""
        if found.kind == STOP:
            raise self._refusal(found)
        if found.wait is not None and pause > LONGEST_PAUSE:
            raise Refused(f"{self.server} asks to wait {duration(pause)}: continue later with --resume.")

    def body_of(self, request: ModelRequest, sent: Mapping[str, Any]) -> bytes:
        picture = self.pictures.address_of(request.question)
        interface = self.server.address.interface
        return request_body(interface, self.settings.model, self.prompt_of(request), picture, sent)

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
            **{name: value for name, value in found._asdict().items() if name not in ("kind", "wait")},
        }
