"""The limits of the model's server: the parameters that it accepts, and how many requests at once."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any

from generation.asking.console import Clock, Interrupted, say

SHRINK = 0.7  # the limit of simultaneous requests is multiplied by this when the server asks for fewer
# Parameters that some servers refuse, and what is sent instead.
REPLACED: Mapping[str, str | None] = {"temperature": None, "seed": None, "max_tokens": "max_completion_tokens"}


class Sampling:
    """The parameters of requests. Parameters that the server does not know are dropped or renamed, each once."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.wanted = dict(parameters)
        self.sent = dict(parameters)
        self.dropped: list[str] = []
        self.lock = threading.Lock()

    def drop(self, said: str, sent: Mapping[str, Any]) -> str | None:
        """Drop the parameter of a refused request that the server names, and return its name, or None."""
        for name, other in REPLACED.items():
            if name in sent and re.search(rf"\b{name}\b", said):
                with self.lock:
                    if name in self.sent:  # replaced at once, since other threads read it
                        more = {other: self.sent[name]} if other else {}
                        # a value that the user has set under the other name counts
                        self.sent = {**more, **{key: value for key, value in self.sent.items() if key != name}}
                        self.dropped.append(name)
                        say(f"The server refuses {name}: {f'{other} is sent instead' if other else 'it is left out'}.")
                return name
        return None


class RequestGate:
    """Limits the number of simultaneous requests: fewer when the server asks for fewer, then slowly more again."""

    def __init__(self, most: int, clock: Clock) -> None:
        self.most, self.limit, self.clock = most, float(most), clock
        self.inside = self.round = 0
        self.open_at = 0.0
        self.is_stopped = False
        self.changed = threading.Condition()

    def enter(self) -> int:
        """Wait for a place and return the current round; raise `Interrupted` if no more requests may be sent."""
        while True:
            with self.changed:
                while self.inside >= int(self.limit) and not self.is_stopped:
                    self.changed.wait()
                if self.is_stopped:
                    raise Interrupted
                pause = self.open_at - self.clock.now()
                if pause <= 0:
                    self.inside += 1
                    return self.round
            self.clock.wait(pause)

    def leave(self, round_entered: int, *, is_crowded: bool, is_good: bool, pause: float = 0.0) -> None:
        """Free the place. If several requests of one round are refused, the limit becomes smaller only once."""
        with self.changed:
            self.inside -= 1
            if is_crowded:
                self.open_at = max(self.open_at, self.clock.now() + pause)
                if round_entered == self.round:
                    self.limit, self.round = max(1.0, self.limit * SHRINK), self.round + 1
            elif is_good:
                self.limit = min(float(self.most), self.limit + 1 / self.limit)
            self.changed.notify_all()

    def stop(self) -> None:
        with self.changed:
            self.is_stopped = True
            self.changed.notify_all()
        self.clock.stopped.set()
