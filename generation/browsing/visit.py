"""How a question is looked at: at which step, whether its reader is asked first, whether it fills the screen.

All of it stands in the address, `?step=4&ask=1&present=1`; whether to be asked first is remembered as well.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from generation.browsing.trail import Pairs
from generation.splits.filters import BadAddress, shortened

STEP, ASK, SHOW, PRESENT = "step", "ask", "show", "present"
COOKIE = "ask-first"
ON, OFF = "1", "0"


@dataclass(frozen=True, kw_only=True)
class Visit:
    """How a question is looked at.

    Attributes
    ----------
    step : str or None
        The step asked for, not checked.
    ask : bool or None
        Whether the address says to ask first; None where it says nothing.
    remembers : bool
        Whether that was chosen earlier.
    shows : bool
        Whether its reader asked for the answer.
    presents : bool
    trail : list of (name, value)
        What keeps the way to the next question in the address.
    """

    step: str | None = None
    ask: bool | None = None
    remembers: bool = False
    shows: bool = False
    presents: bool = False
    trail: Pairs

    @property
    def asks_first(self) -> bool:
        """Return whether answer and program wait until they are asked for."""
        return self.remembers if self.ask is None else self.ask

    @property
    def hides(self) -> bool:
        """Return whether they still wait; who steps through the program asked for it."""
        return self.asks_first and not self.shows and self.step is None

    @property
    def onward(self) -> str:
        """Return what the address of another question on the way has after its path."""
        return _query(self._kept())

    @property
    def elsewhere(self) -> str:
        """Return what the address of a question off the way has after its path."""
        return _query(self._stance())

    @property
    def scene_stance(self) -> str:
        """Return the same, to be put behind a list."""
        return "".join(f"&{name}={value}" for name, value in self._stance())

    @property
    def start(self) -> str:
        """Return the address of this question before its first step, answer and program shown."""
        return _query([*self._kept(), *([(SHOW, ON)] if self.asks_first else [])]) or "?"

    @property
    def stem(self) -> str:
        """Return an address of this question to which `step=4` is added."""
        query = _query(self._kept())
        return f"{query}&" if query else "?"

    @property
    def other_ask(self) -> str:
        """Return the address of this question with asking first switched."""
        return _query([*self.trail, (ASK, OFF if self.asks_first else ON), *self._presenting()])

    @property
    def other_present(self) -> str:
        """Return the address of this question filling the screen, or no longer."""
        presenting = [] if self.presents else [(PRESENT, ON)]
        return _query([*self.trail, *self._asking(), *presenting, *self._here()]) or "?"

    def _kept(self) -> Pairs:
        return [*self.trail, *self._stance()]

    def _stance(self) -> Pairs:
        return [*self._asking(), *self._presenting()]

    def _asking(self) -> Pairs:
        return [] if self.ask is None else [(ASK, ON if self.ask else OFF)]

    def _presenting(self) -> Pairs:
        return [(PRESENT, ON)] if self.presents else []

    def _here(self) -> Pairs:
        """Return what tells how far the reader is."""
        if self.step is not None:
            return [(STEP, self.step)]
        return [(SHOW, ON)] if self.asks_first and self.shows else []


def is_remembered(cookies: Mapping[str, str]) -> bool:
    """Return whether a browser says that its user wants to be asked first."""
    return cookies.get(COOKIE) == ON


def parted(pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, str], Pairs]:
    """Return what an address says of the visit, and what is left: the filters or the list."""
    own: dict[str, str] = {}
    rest: Pairs = []
    for name, value in pairs:
        if name in (STEP, ASK, SHOW, PRESENT):
            own[name] = value
        else:
            rest.append((name, value))
    return own, rest


def read_visit(own: Mapping[str, str], *, remembers: bool, trail: Pairs) -> Visit:
    """Return how a question is to be shown; raise `BadAddress` for what is neither on nor off."""
    return Visit(
        step=own.get(STEP),
        ask=_switch(own, ASK),
        remembers=remembers,
        shows=bool(_switch(own, SHOW)),
        presents=bool(_switch(own, PRESENT)),
        trail=trail,
    )


def _switch(own: Mapping[str, str], name: str) -> bool | None:
    value = own.get(name)
    if value not in (None, ON, OFF):
        raise BadAddress(f"Expected {name}={ON} or {name}={OFF}, got {shortened(str(value))}.")
    return None if value is None else value == ON


def _query(pairs: Pairs) -> str:
    return "?" + urlencode(pairs, safe=",") if pairs else ""
