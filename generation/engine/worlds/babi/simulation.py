"""A small world in which people act, as in a text adventure: the possible actions, and their effects.

Actions are events as in stories (`("go", "Mary", "kitchen")`), and changes of a person's state. An action that the
world does not allow is always refused.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 4.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from generation.engine.errors import Refused
from generation.engine.worlds.babi.story import Event

Ways = Mapping[str, tuple[str, ...]]
Rule = Callable[["Simulation", str], Event | None]
"""Returns the next action of a person in some state, or None if the rule does not apply."""

# Kinds of events, and how many people, places, things and states each has.
ACTIONS: Mapping[str, int] = {"go": 2, "get": 2, "give": 3, "drop": 2, "set": 2}


@cache
def all_ways(places: tuple[str, ...]) -> Ways:
    """Return ways from each place to all others."""
    return {place: tuple(other for other in places if other != place) for place in places}


class Simulation:
    """People, places and things, and where they are.

    Parameters
    ----------
    ways : mapping of str to tuple of str
        For each place, the places to which it leads.
    at : mapping of str to str
        The location of each person and thing: people are at places; things are at places or with people.
    people : sequence of str
        The people among the keys of `at`; all other keys are things.
    rules : mapping of str to sequence of Rule
        The rules of each person, the most urgent first.

    Attributes
    ----------
    ways : mapping of str to tuple of str
    at : dict of str to str
    contents : dict of str to list of str
        For each place (without people) and person, the things there, in the order of their arrival.
    states : dict of str to str
        The states of the people who have one.
    """

    __slots__ = ("at", "contents", "people", "rules", "states", "ways")

    def __init__(
        self,
        ways: Ways,
        at: Mapping[str, str],
        *,
        people: Sequence[str],
        rules: Mapping[str, Sequence[Rule]] | None = None,
    ) -> None:
        self.ways, self.people, self.at, self.rules = ways, tuple(people), dict(at), rules or {}
        self.states: dict[str, str] = {}
        self.contents: dict[str, list[str]] = {holder: [] for holder in (*ways, *self.people)}
        for entity, where in self.at.items():
            if where not in (ways if entity in self.people else self.contents):
                raise Refused(f"Expected a place of this world for {entity}, got {where!r}.", where=entity)
            if entity not in self.people:
                self.contents[where].append(entity)

    def go(self, person: str, place: str) -> None:
        """Move a person to a place."""
        if place not in self.ways[self._place(person)]:
            raise Refused(self._no_way(person, place), where=f"go {person} {place}")
        self.at[person] = place

    def get(self, person: str, thing: str) -> None:
        """Give a person a thing that lies at their place."""
        if thing not in self.contents[self._place(person)]:
            raise Refused(self._out_of_hand(person, thing), where=f"get {person} {thing}")
        self._bring(thing, person)

    def give(self, person: str, thing: str, receiver: str) -> None:
        """Give a thing that a person has to another person at the same place."""
        if (
            self.at.get(thing) != person
            or receiver == person
            or receiver not in self.people
            or self.at[receiver] != self.at[person]
        ):
            where = f"give {person} {thing} {receiver}"
            self._own(person, thing, where=where)
            raise Refused(f"Expected somebody else where {person} is, got {receiver}.", where=where)
        self._bring(thing, receiver)

    def drop(self, person: str, thing: str) -> None:
        """Leave a thing that a person has at their place."""
        if self.at.get(thing) != person or person not in self.people:
            self._own(person, thing, where=f"drop {person} {thing}")
        self._bring(thing, self.at[person])

    def set(self, person: str, state: str) -> None:
        """Set the state of a person."""
        self._place(person)
        if self.states.get(person) == state:
            raise Refused(f"Expected another state than {person} is in, got {state}.", where=f"set {person} {state}")
        self.states[person] = state

    def do(self, event: Event) -> None:
        """Do an action; raise `Refused` if the world does not allow it."""
        kind, *roles = event
        if kind not in ACTIONS:
            raise Refused(f"Expected one of {', '.join(ACTIONS)}, got {kind!r}.", where=" ".join(event))
        if len(roles) != ACTIONS[kind]:
            raise Refused(f"Expected {ACTIONS[kind]} names after {kind}, got {len(roles)}.", where=" ".join(event))
        getattr(self, kind)(*roles)

    def act(self, person: str) -> Event | None:
        """Do and return a person's next action, that of the first rule that applies, or None if no rule applies."""
        for rule in self.rules.get(person, ()):
            event = rule(self, person)
            if event is not None:
                self.do(event)
                return event
        return None

    def _bring(self, thing: str, where: str) -> None:
        self.contents[self.at[thing]].remove(thing)
        self.contents[where].append(thing)
        self.at[thing] = where

    def _place(self, person: str) -> str:
        place = self.at.get(person)
        if place is None or person not in self.people:
            raise Refused(f"Expected one of {', '.join(self.people)}, got {person!r}.", where=person)
        return place

    def _own(self, person: str, thing: str, *, where: str) -> None:
        self._place(person)
        if self.at.get(thing) != person:
            raise Refused(f"Expected what {person} has, got the {thing}.", where=where)

    def _no_way(self, person: str, place: str) -> str:
        here = self.at[person]
        if place not in self.ways:
            return f"Expected one of {', '.join(self.ways)}, got {place!r}."
        if place == here:
            return f"Expected another place than the {place}, where {person} is."
        return f"Expected a place that one can go to from the {here}, got the {place}."

    def _out_of_hand(self, person: str, thing: str) -> str:
        if thing not in self.at or thing in self.people:
            return f"Expected a thing, got {thing!r}."
        if (holder := self.at[thing]) in self.people:
            return f"Expected what nobody has, got the {thing}, which {holder} has."
        return f"Expected a thing where {person} is, got the {thing}."


def seeks(state: str, things: Sequence[str], *, then: str) -> Rule:
    """Return the rule of a person in a state, who wants to have the first of these things that nobody else has.

    When the person has a thing, their state becomes `then`. The rule does not apply if no way leads to any of the
    things.
    """

    def rule(world: Simulation, person: str) -> Event | None:
        if world.states.get(person) != state:
            return None
        if any(world.at[thing] == person for thing in things):
            return ("set", person, then)
        for thing in things:
            if world.at[thing] not in world.people:
                event = _toward(world, person, thing)
                if event is not None:
                    return event
        return None

    return rule


def _toward(world: Simulation, person: str, thing: str) -> Event | None:
    """Return the next action that brings a thing closer to a person, or None if no way leads to the thing."""
    here, where = world.at[person], world.at[thing]
    if where == here:
        return ("get", person, thing)
    step = first_step(world.ways, here, where)
    return ("go", person, step) if step is not None else None


def first_step(ways: Ways, start: str, goal: str) -> str | None:
    """Return the first step of a shortest way to a place, or None if there is no way or the start is the goal."""
    if start == goal or goal not in ways:
        return None
    steps, reached = {place: place for place in ways[start]}, list(ways[start])
    for place in reached:
        if place == goal:
            return steps[place]
        for beyond in ways[place]:
            if beyond not in steps and beyond != start:
                steps[beyond] = steps[place]
                reached.append(beyond)
    return None
