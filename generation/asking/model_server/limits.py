"""The limits of the model's server: the parameters that it accepts, and how many requests at once."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping
from typing import Any

from generation.asking.console import Clock, Interrupted, printable, say

SHRINK = 0.7  # the limit of simultaneous requests is multiplied by this when the server asks for fewer
UNKNOWN_PARAMETER = re.compile(
    r"unknown|unrecogni[sz]ed|unsupported|not (?:be )?support|(?:does|do)(?:n't| not) support|unexpected|extra|"
    r"not (?:permitted|allowed|recogni[sz]ed|available|accepted)|deprecated|cannot find|no longer|instead|"
    r"at the same time|send one of|(?:invalid|valid) (?:parameter|argument|field|name)",
    re.IGNORECASE,
)
BAD_VALUE = re.compile(
    r"too (?:large|high|big|long|many|small|low)|exceed|at (?:most|least)|maximum|minimum|larger|greater|less than|"
    r"(?:must|should) be|strictly|positive|between|range|limit|[<>\u2264\u2265]|"
    r"(?:invalid|unsupported|bad) (?:\S+ )?value|unsupported_value",
    re.IGNORECASE,
)
# Other names of the limit of a reply, and a complaint about its size that has no name.
REPLY_LIMIT = re.compile(
    r"max_?(?:completion_|output_|new_)?tokens|num_predict|tokens? in the completion|in the completion", re.IGNORECASE
)
# Parameters, the options that set them, and what is sent instead of one that is unknown to the server.
OPTIONS: Mapping[str, str] = {"temperature": "--temperature", "seed": "--seed"}
RENAMED: Mapping[str, str] = {"max_tokens": "max_completion_tokens"}


class Sampling:
    """The parameters of requests. Each fallback is tried once, and none changes what the user set.

    A limit that the server does not know by its name is sent by another name. A temperature that the user did not set
    is left out if the server refuses it.
    """

    def __init__(self, parameters: Mapping[str, Any], *, chosen: Collection[str] = ()) -> None:
        self.wanted = dict(parameters)
        self.chosen = frozenset(chosen)  # the names of the parameters that the user has set
        self.sent = dict(parameters)
        self.dropped: list[str] = []
        self.lock = threading.Lock()

    def fall_back(self, said: str, sent: Mapping[str, Any]) -> bool:
        """Change a parameter that a refused request names; return False if it names none that may change."""
        is_free = "temperature" in sent and "temperature" not in self.chosen
        if is_free and is_named("temperature", said) and is_about_a_parameter(said):
            self._replace("temperature", None)
            return True
        for name, other in RENAMED.items():
            if name in sent and is_named(name, said) and is_unknown(said):
                self._replace(name, other)
                return True
        return False

    def _replace(self, name: str, other: str | None) -> None:
        with self.lock:
            if name in self.sent:  # replaced at once, since other threads read it
                more = {other: self.sent[name]} if other else {}
                # a value that the user has set under the other name counts
                self.sent = {**more, **{key: value for key, value in self.sent.items() if key != name}}
                self.dropped.append(name)
                say(f"The server refuses {name}: {f'{other} is sent instead' if other else 'it is left out'}.")

    def setting_named(self, said: str, sent: Mapping[str, Any]) -> str | None:
        """Return what to do about the setting that a refused request names, or None if it names none."""
        if not is_about_a_parameter(said):
            return None
        if REPLY_LIMIT.search(said) and is_unknown(said):
            return "the limit of --max-tokens can't be sent to this server under any name that is known"
        if REPLY_LIMIT.search(said):
            return "set another limit with --max-tokens"
        for name, option in OPTIONS.items():
            if name in sent and is_named(name, said):
                return f"leave out {option}, or set another value"
        named = next((name for name in sent if name in self.chosen and is_named(name, said)), None)
        return None if named is None else f"change {printable(named)} in --more"


def is_named(name: str, said: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said) is not None


def is_about_a_parameter(said: str) -> bool:
    return UNKNOWN_PARAMETER.search(said) is not None or BAD_VALUE.search(said) is not None


def is_unknown(said: str) -> bool:
    # It is about a name that the server does not know, and not about its value.
    return UNKNOWN_PARAMETER.search(said) is not None and BAD_VALUE.search(said) is None


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
