"""The simulated world allows exactly the actions that the constraints of the paper allow."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.errors import Refused
from generation.engine.worlds.babi.simulation import Simulation, all_ways, first_step, seeks
from generation.engine.worlds.babi.story import Event
from tests.proof import size

WAYS = {"hall": ("kitchen", "garden"), "kitchen": ("hall",), "garden": ("hall", "attic"), "attic": ()}
PEOPLE = ("Mary", "John", "Fred")
THINGS = ("apple", "milk", "box")
START = {"Mary": "hall", "John": "hall", "Fred": "kitchen", "apple": "hall", "milk": "hall", "box": "kitchen"}
NAMES = (*WAYS, *PEOPLE, *THINGS, "moon")
EVENTS: list[Event] = [
    *product(("go", "get", "drop"), PEOPLE, NAMES),
    *product(("give",), PEOPLE, NAMES, (*PEOPLE, "moon")),
]


def world(**more: object) -> Simulation:
    return Simulation(WAYS, START, people=PEOPLE, **more)  # type: ignore[arg-type]


def is_allowed(at: dict[str, str], event: Event) -> bool:
    """Return whether the constraints of the paper allow an action. This is a slow twin of the simulation."""
    kind, person, what, *rest = event
    if kind == "go":
        return what in WAYS[at[person]]
    if kind == "get":
        return what in THINGS and at[what] == at[person]
    if at.get(what) != person:
        return False
    return kind == "drop" or (rest[0] in PEOPLE and rest[0] != person and at[rest[0]] == at[person])


def after(at: dict[str, str], event: Event) -> dict[str, str]:
    """Return the places of everything after an allowed action."""
    kind, person, what, *rest = event
    if kind == "go":
        return {**at, person: what}
    return {**at, what: {"get": person, "drop": at[person], "give": rest[-1] if rest else ""}[kind]}


@settings(max_examples=size(2000, name="worlds: actions allowed and refused"), deadline=None)
@given(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=60))
def test_actions_are_allowed_and_refused_as_in_the_paper(events: list[Event]) -> None:
    simulated, at = world(), dict(START)
    for event in events:
        if is_allowed(at, event):
            simulated.do(event)
            at = after(at, event)
        else:
            with pytest.raises(Refused, match="Expected"):
                simulated.do(event)
        assert simulated.at == at
        assert sorted((thing, where) for where, has in simulated.contents.items() for thing in has) == sorted(
            (thing, at[thing]) for thing in THINGS
        )


def test_refusals_name_the_reason() -> None:
    simulated = world()
    for event, reason in {
        ("go", "Mary", "attic"): "Expected a place that one can go to from the hall, got the attic.",
        ("go", "Mary", "hall"): "Expected another place than the hall, where Mary is.",
        ("go", "Mary", "moon"): "Expected one of hall, kitchen, garden, attic, got 'moon'.",
        ("go", "Anna", "hall"): "Expected one of Mary, John, Fred, got 'Anna'.",
        ("get", "Mary", "John"): "Expected a thing, got 'John'.",
        ("get", "Mary", "box"): "Expected a thing where Mary is, got the box.",
        ("drop", "Mary", "milk"): "Expected what Mary has, got the milk.",
        ("fly", "Mary"): "Expected one of go, get, give, drop, set, got 'fly'.",
        ("drop", "Mary"): "Expected 2 names after drop, got 1.",
    }.items():
        with pytest.raises(Refused) as refused:
            simulated.do(event)
        assert refused.value.reason == reason
    simulated.get("John", "milk")
    with pytest.raises(Refused, match="Expected what nobody has, got the milk, which John has"):
        simulated.get("Mary", "milk")
    with pytest.raises(Refused, match="Expected somebody else where John is, got Fred"):
        simulated.give("John", "milk", "Fred")


def test_places_of_things_and_states_of_people_are_checked() -> None:
    with pytest.raises(Refused, match="Expected a place of this world for apple, got 'moon'"):
        Simulation(WAYS, {"apple": "moon"}, people=())
    simulated = world()
    simulated.set("John", "hungry")
    with pytest.raises(Refused, match="Expected another state than John is in, got hungry"):
        simulated.set("John", "hungry")


def test_a_hungry_person_gets_food_and_is_content() -> None:
    simulated = world(rules={"Fred": [seeks("hungry", ("apple",), then="content")]})
    simulated.set("Fred", "hungry")
    done = [simulated.act("Fred") for _ in range(4)]
    assert done == [("go", "Fred", "hall"), ("get", "Fred", "apple"), ("set", "Fred", "content"), None]
    assert simulated.states == {"Fred": "content"}


def test_the_first_step_is_on_a_shortest_way() -> None:
    def far(start: str, goal: str, seen: tuple[str, ...] = ()) -> int:
        if start == goal:
            return 0
        return 1 + min((far(one, goal, (*seen, start)) for one in WAYS[start] if one not in seen), default=99)

    for start, goal in product(WAYS, WAYS):
        step = first_step(WAYS, start, goal)
        if start == goal or far(start, goal) >= 99:
            assert step is None
        else:
            assert step in WAYS[start] and far(step, goal) == far(start, goal) - 1


def test_without_ways_every_place_is_reachable_from_every_other() -> None:
    assert all_ways(("a", "b", "c")) == {"a": ("b", "c"), "b": ("a", "c"), "c": ("a", "b")}
