"""A small world in which people act, as in a text adventure: the possible actions, and their effects.

Actions are events as in stories (`("go", "Mary", "kitchen")`), and further ones that stories do not have. An action
that the world does not allow is always refused.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 4.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from generation.engine.errors import Refused
from generation.engine.seeding import Stream
from generation.engine.worlds.babi.story import Event

Ways = Mapping[str, tuple[str, ...]]
Rule = Callable[["Simulation", str], Event | None]
"""Returns the next action of a person in some state, or None if the rule does not apply."""

IN, ON = "in", "on"
ACTIONS: Mapping[str, int] = {  # kinds of events, and how many people, places, things and states each has
    "go": 2,
    "get": 2,
    "get-from": 3,
    "put": 3,
    "give": 3,
    "drop": 2,
    "set": 3,
    "look": 1,
    "inventory": 1,
    "examine": 2,
}


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
        The location of each person and thing: people are at places; things are at places, with people or in containers.
    people : sequence of str
        The people among the keys of `at`; all other keys are things.
    containers : mapping of str to str
        The things that others can be put `IN` or `ON`. Things of kind `ON` are furniture, which nobody can carry.
    properties : mapping of str to mapping
        Further properties of things, for example their colour.
    rules : mapping of str to sequence of Rule
        The rules of each person, the most urgent first.

    Attributes
    ----------
    ways : mapping of str to tuple of str
    at : dict of str to str
    contents : dict of str to list of str
        For each place (without people), person and container, the things there, in the order of their arrival.
    states : dict of str to str
        The states of the people and things that have one.
    """

    __slots__ = ("at", "containers", "contents", "people", "properties", "rules", "states", "ways")

    def __init__(
        self,
        ways: Ways,
        at: Mapping[str, str],
        *,
        people: Sequence[str],
        containers: Mapping[str, str] | None = None,
        properties: Mapping[str, Mapping[str, str]] | None = None,
        rules: Mapping[str, Sequence[Rule]] | None = None,
    ) -> None:
        self.ways, self.people, self.at = ways, tuple(people), dict(at)
        self.containers, self.properties, self.rules = containers or {}, properties or {}, rules or {}
        self.states: dict[str, str] = {}
        self.contents: dict[str, list[str]] = {holder: [] for holder in (*ways, *self.people, *self.containers)}
        for entity, where in self.at.items():
            if where not in (ways if entity in self.people else self.contents):
                raise Refused(f"Expected a place of this world for {entity}, got {where!r}.", where=entity)
            if entity not in self.people:
                self.contents[where].append(entity)
        for entity in self.at:
            self._around(entity)

    def go(self, person: str, place: str) -> None:
        """Move a person to a place."""
        if place not in self.ways[self._place(person)]:
            raise Refused(self._no_way(person, place), where=f"go {person} {place}")
        self.at[person] = place

    def get(self, person: str, thing: str) -> None:
        """Give a person a thing that lies at their place."""
        if thing not in self.contents[self._place(person)] or self.containers.get(thing) == ON:
            raise Refused(self._out_of_hand(person, thing), where=f"get {person} {thing}")
        self._bring(thing, person)

    def get_from(self, person: str, thing: str, container: str) -> None:
        """Give a person a thing from inside or from on top of a container."""
        where = f"get-from {person} {thing} {container}"
        self._reach(person, container, where=where)
        if container not in self.containers or self.at.get(thing) != container:
            raise Refused(f"Expected what the {container} has in or on it, got the {thing}.", where=where)
        if self.containers.get(thing) == ON:
            raise Refused(f"Expected something to carry, got furniture: the {thing}.", where=where)
        self._bring(thing, person)

    def put(self, person: str, thing: str, container: str) -> None:
        """Put a thing that a person has into or onto a container."""
        where = f"put {person} {thing} {container}"
        self._own(person, thing, where=where)
        self._reach(person, container, where=where)
        if container not in self.containers:
            raise Refused(f"Expected something to put things in or on, got the {container}.", where=where)
        if thing in self._around(container):
            raise Refused(f"Expected another thing than the {thing}, which would be within itself.", where=where)
        self._bring(thing, container)

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

    def set(self, person: str, entity: str, state: str) -> None:
        """Set the state of the person themselves, or of a thing within reach."""
        where = f"set {person} {entity} {state}"
        self._place(person)
        if entity != person:
            self._reach(person, entity, where=where)
        if self.states.get(entity) == state:
            raise Refused(f"Expected another state than {entity} is in, got {state}.", where=where)
        self.states[entity] = state

    def look(self, person: str) -> tuple[str, ...]:
        """Return the other people and the things at a person's place."""
        here = self._place(person)
        return (*(one for one in self.people if one != person and self.at[one] == here), *self.contents[here])

    def inventory(self, person: str) -> tuple[str, ...]:
        """Return a person's things, in the order in which the person got them."""
        self._place(person)
        return tuple(self.contents[person])

    def examine(self, person: str, thing: str) -> dict[str, str | tuple[str, ...]]:
        """Return the properties, the state and the contents of a thing within a person's reach."""
        self._reach(person, thing, where=f"examine {person} {thing}")
        seen: dict[str, str | tuple[str, ...]] = dict(self.properties.get(thing, {}))
        if thing in self.states:
            seen["state"] = self.states[thing]
        if thing in self.containers:
            seen[self.containers[thing]] = tuple(self.contents[thing])
        return seen

    def do(self, event: Event) -> object:
        """Do an action and return its result, None for most; raise `Refused` if the world does not allow it."""
        kind, *roles = event
        if kind not in ACTIONS:
            raise Refused(f"Expected one of {', '.join(ACTIONS)}, got {kind!r}.", where=" ".join(event))
        if len(roles) != ACTIONS[kind]:
            raise Refused(f"Expected {ACTIONS[kind]} names after {kind}, got {len(roles)}.", where=" ".join(event))
        return getattr(self, kind.replace("-", "_"))(*roles)

    def options(self, person: str, kinds: Sequence[str]) -> list[Event]:
        """Return all possible actions of a person, of these kinds, that move people or things."""
        here, has = self._place(person), self.contents[person]
        near = [thing for thing in self.contents[here] if self.containers.get(thing) != ON]
        holders = [holder for holder in self.containers if self.carrier(holder) in (None, person)]
        holders = [holder for holder in holders if self.place_of(holder) == here]
        found: dict[str, list[Event]] = {
            "go": [("go", person, place) for place in self.ways[here]],
            "get": [("get", person, thing) for thing in near],
            "get-from": [
                ("get-from", person, thing, holder)
                for holder in holders
                for thing in self.contents[holder]
                if self.containers.get(thing) != ON
            ],
            "put": [
                ("put", person, thing, holder)
                for holder in holders
                for thing in has
                if thing not in self._around(holder)
            ],
            "give": [
                ("give", person, thing, other)
                for thing in has
                for other in self.people
                if other != person and self.at[other] == here
            ],
            "drop": [("drop", person, thing) for thing in has],
        }
        return [event for kind in kinds for event in found[kind]]

    def act(self, person: str, chance: Stream, *, kinds: Sequence[str]) -> Event | None:
        """Do and return a person's next action: that of the first rule that applies, otherwise a random one.

        Random actions have one of these kinds; each possible kind is equally likely. Return None if none is possible.
        """
        for rule in self.rules.get(person, ()):
            event = rule(self, person)
            if event is not None:
                self.do(event)
                return event
        options = self.options(person, kinds)
        possible = tuple(dict.fromkeys(event[0] for event in options))
        if not possible:
            return None
        kind = chance.choice(possible)
        event = chance.choice([event for event in options if event[0] == kind])
        self.do(event)
        return event

    def carrier(self, thing: str) -> str | None:
        """Return the person who has a thing directly or inside a container, or None."""
        return next((one for one in self._around(thing) if one in self.people), None)

    def place_of(self, entity: str) -> str:
        """Return the place of a person or thing, also if it is carried or in a container."""
        return self._around(entity)[-1]

    def _around(self, entity: str) -> list[str]:
        """Return an entity and everything that contains it; the place is last."""
        found = [entity]
        while found[-1] in self.at:
            found.append(self.at[found[-1]])
            if len(found) > len(self.at) + 1:
                raise Refused(f"Expected things in places, got the {entity} within itself.", where=entity)
        return found

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

    def _reach(self, person: str, thing: str, *, where: str) -> None:
        here = self._place(person)
        if thing not in self.at or thing in self.people or self.place_of(thing) != here:
            raise Refused(f"Expected a thing where {person} is, got the {thing}.", where=where)
        if self.carrier(thing) not in (None, person):
            raise Refused(f"Expected what nobody else has, got the {thing}.", where=where)

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
        if self.containers.get(thing) == ON:
            return f"Expected something to carry, got furniture: the {thing}."
        if (carrier := self.carrier(thing)) is not None:
            return f"Expected what nobody has, got the {thing}, which {carrier} has."
        if self.place_of(thing) != self.at[person]:
            return f"Expected a thing where {person} is, got the {thing}."
        return f"Expected what lies open, got the {thing}: get it from the {self.at[thing]}."


def seeks(state: str, things: Sequence[str], *, then: str) -> Rule:
    """Return the rule of a person in a state, who wants to have the first of these things that nobody else has.

    When the person has a thing, their state becomes `then`. The rule does not apply if no way leads to any of the
    things.
    """

    def rule(world: Simulation, person: str) -> Event | None:
        if world.states.get(person) != state:
            return None
        if any(world.at[thing] == person for thing in things):
            return ("set", person, person, then)
        for thing in things:
            if world.carrier(thing) is None:
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
    if world.place_of(thing) == here:
        return ("get-from", person, thing, where)
    step = first_step(world.ways, here, world.place_of(thing))
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
