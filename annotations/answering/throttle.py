"""How often somebody may ask: limits that all web processes count together, in the cache that they share.

Sessions and studies are counted, and addresses only where nobody has said yet who they are: a lab shares one.
"""

import hashlib
import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.core.cache import cache
from redis.exceptions import RedisError

from annotations.models import Participant, Study
from generation.models import from_now

REQUESTS, SPAN = 400, 10.0  # of one session in so many seconds
JOINING, A_MINUTE = 1000, 60.0  # people of one study in so many seconds
ARRIVALS, TEN_MINUTES = 600, 600.0  # people from one address in so many seconds who have not agreed to take part

log = logging.getLogger(__name__)


class Throttle:
    """So many requests of each session, account or address in spans of some seconds, counted by all processes.

    What is counted is forgotten when its span is over, and nothing else is: each counter is an entry of the cache that
    expires by itself. Where the cache can't be reached everybody is let through.
    """

    def __init__(self, most: int, span: float, *, name: str = "") -> None:
        """Begin to count; throttles of one name count together, one without a name counts alone."""
        self.most, self.span = most, span
        self.name = name or uuid.uuid4().hex

    def wait(self, who: str) -> float:
        """Return for how many seconds somebody has to wait, 0 where they need not; the request counts."""
        key = self._key(who)
        if self._add(key, 1) <= self.most:
            return 0.0
        since = time.time()
        with _tolerant():
            since = cache.get(f"{key}-since", since)
        return max(0.001, since + self.span - time.time())

    def give_back(self, who: str) -> None:
        """Count a request less in this span: what it was counted for is over."""
        self._add(self._key(who), -1)

    def _key(self, who: str) -> str:
        return f"throttle-{self.name}-{hashlib.sha256(who.encode(errors='surrogatepass')).hexdigest()[:32]}"

    def _add(self, key: str, by: int) -> int:
        """Return how much is counted in the span that runs, or begins, with what is added now."""
        with _tolerant():
            try:
                return int(cache.incr(key, by))
            except ValueError:  # a span begins
                pass
            if cache.add(key, by, self.span):
                cache.set(f"{key}-since", time.time(), self.span)
                return by
            with suppress(ValueError):  # another process was first; and now the span may be over
                return int(cache.incr(key, by))
        return 0


@contextmanager
def _tolerant() -> Iterator[None]:
    """Go on after what is within where the cache can't be reached."""
    try:
        yield
    except (OSError, RedisError) as error:
        log.warning("Expected to count requests in the cache, got: %s", error)


sessions = Throttle(REQUESTS, SPAN, name="sessions")
arrivals = Throttle(ARRIVALS, TEN_MINUTES, name="arrivals")


def is_crowded(study: Study) -> bool:
    """Return whether so many people came to a study within a minute that it has to be a script; rows say it."""
    return Participant.objects.filter(study=study, joined__gte=from_now(-A_MINUTE)).count() >= JOINING
