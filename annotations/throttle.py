"""How often somebody may ask: by session and by study, never by address, since a lab shares one."""

import threading
import time
from collections.abc import Callable

from annotations.models import Participant, Study
from generation.models import from_now

REQUESTS, SPAN = 400, 10.0  # of one session in so many seconds, in each process of the web server
JOINING, A_MINUTE = 1000, 60.0  # people of one study in so many seconds
MOST = 20_000  # sessions that a process remembers


class Throttle:
    """Requests of each session in spans of a few seconds. It keeps a process from being busy with one alone."""

    def __init__(self, most: int, span: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.span, self.clock = most, span, clock
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._began = clock()

    def wait(self, who: str) -> float:
        """Return for how many seconds somebody has to wait, 0 where they needn't; the request counts."""
        with self._lock:
            now = self.clock()
            if now - self._began >= self.span or len(self._counts) >= MOST:
                self._counts, self._began = {}, now
            self._counts[who] = self._counts.get(who, 0) + 1
            return self._began + self.span - now if self._counts[who] > self.most else 0.0


sessions = Throttle(REQUESTS, SPAN)


def is_crowded(study: Study) -> bool:
    """Return whether so many people came to a study within a minute that it has to be a script; rows say it."""
    return Participant.objects.filter(study=study, joined__gte=from_now(-A_MINUTE)).count() >= JOINING
