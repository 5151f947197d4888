"""Rate limits for which all web processes count requests together, in the shared cache.

Requests are counted per session and per study. They are counted per address only until the visitor has given consent,
because all people of a lab may share one address.
"""

import hashlib
import time
import uuid
from contextlib import suppress

from django.core.cache import cache

from annotations.models import Participant, Study
from generation.models import from_now

REQUESTS, SPAN = 400, 10.0  # the most requests of one session in this many seconds
JOINING, A_MINUTE = 1000, 60.0  # the most new participants of one study in this many seconds
ARRIVALS, TEN_MINUTES = 600, 600.0  # the most people without consent from one address in this many seconds


class Throttle:
    """A limit of `most` requests of each session, account or address within `span` seconds, counted by all processes.

    Each counter is a cache entry, which expires when its span is over. While Redis is unavailable, the cache is another
    store, so the processes of each machine count together, from zero.
    """

    def __init__(self, most: int, span: float, *, name: str = "") -> None:
        self.most, self.span = most, span
        self.name = name or uuid.uuid4().hex  # throttles with the same name share their counters

    def wait(self, who: str) -> float:
        """Count a request and return the seconds that the sender must wait; 0 if the request is allowed."""
        key = self._key(who)
        if self._add(key, 1) <= self.most:
            return 0.0
        since = cache.get(f"{key}-since", time.time())
        return max(0.001, since + self.span - time.time())

    def give_back(self, who: str) -> None:
        self._add(self._key(who), -1)

    def _key(self, who: str) -> str:
        return f"throttle-{self.name}-{hashlib.sha256(who.encode(errors='surrogatepass')).hexdigest()[:32]}"

    def _add(self, key: str, by: int) -> int:
        """Add to the counter of the current span, or begin a new span; return the value of the counter."""
        with suppress(ValueError):  # there is no counter, so a new span begins
            return int(cache.incr(key, by))
        if cache.add(key, by, self.span):
            cache.set(f"{key}-since", time.time(), self.span)
            return by
        with suppress(ValueError):  # another process began the span, which may be over now
            return int(cache.incr(key, by))
        return 0


sessions = Throttle(REQUESTS, SPAN, name="sessions")
arrivals = Throttle(ARRIVALS, TEN_MINUTES, name="arrivals")


def is_crowded(study: Study) -> bool:
    # So many people within a minute must be a script.
    return Participant.objects.filter(study=study, joined__gte=from_now(-A_MINUTE)).count() >= JOINING
