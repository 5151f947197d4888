"""The simulated world allows exactly the actions that the constraints of the paper allow."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.errors import Refused
from generation.engine.seeding import Stage, stream
from generation.engine.worlds.babi.simulation import IN, ON, Simulation, all_ways, first_step, seeks
from generation.engine.worlds.babi.story import Event
from tests.proof import size

WAYS = {"hall": ("kitchen", "garden"), "kitchen": ("hall",), "garden": ("hall", "attic"), "attic": ()}
PEOPLE = ("Mary", "John", "Fred")
THINGS = ("apple", "milk", "box", "bag", "table")
CONTAINERS = {"box": IN, "bag": IN, "table": ON}
START = {
    "Mary": "hall",
    "John": "hall",
    "Fred": "kitchen",
    "apple": "box",
    "milk": "hall",
    "box": "hall",
    "bag": "kitchen",
    "table": "hall",
}
KINDS = ("go", "get", "get-from", "put", "give", "drop")
NAMES = (*WAYS, *PEOPLE, *THINGS, "moon")
EVENTS: list[Event] = [
    *product(("go", "get", "give", "drop"), PEOPLE, NAMES),
    *product(("get-from", "put"), PEOPLE, THINGS, THINGS),
    *product(("give",), PEOPLE, THINGS, (*PEOPLE, "moon")),
]


def world(**more: object) -> Simulation:
    return Simulation(WAYS, START, people=PEOPLE, containers=CONTAINERS, **more)  # type: ignore[arg-type]


def holders(at: dict[str, str], thing: str) -> list[str]:
    """Return the chain of holders of a thing: its container or person, the holder of that one, and so on."""
    return [] if thing not in at else [at[thing], *holders(at, at[thing])]


def reachable(at: dict[str, str], person: str, thing: str) -> bool:
    """Return whether a thing is at the place of a person and nobody else has it."""
    chain = holders(at, thing)
    return thing in THINGS and chain[-1] == at[person] and not any(one in chain for one in PEOPLE if one != person)


def is_allowed(at: dict[str, str], event: Event) -> bool:
    """Return whether the constraints of the paper allow an action. This is a slow twin of the simulation."""
    kind, person, *roles = event
    if kind == "go":
        return roles[0] in WAYS[at[person]]
    thing = roles[0]
    if kind == "get":
        return thing in THINGS and thing != "table" and at[thing] == at[person]
    if kind == "get-from":
        return thing != "table" and at[thing] == roles[1] and reachable(at, person, roles[1])
    if at.get(thing) != person:
        return False
    if kind == "put":
        into = roles[1]
        fits = into in CONTAINERS and into != thing and thing not in holders(at, into)
        return fits and reachable(at, person, into)
    if kind == "give":
        return len(roles) == 2 and roles[1] in PEOPLE and roles[1] != person and at[roles[1]] == at[person]
    return kind == "drop"


def after(at: dict[str, str], event: Event) -> dict[str, str]:
    """Return the places of everything after an allowed action."""
    kind, person, *roles = event
    moved, where = {
        "go": (person, roles[0]),
        "get": (roles[0], person),
        "get-from": (roles[0], person),
        "drop": (roles[0], at[person]),
    }.get(kind, (roles[0], roles[-1]))
    return {**at, moved: where}


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


@settings(max_examples=size(400, name="worlds: options of people"), deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_options_are_exactly_the_allowed_actions(seed: int) -> None:
    simulated, chance = world(), stream(seed=seed, split="test", index=0, stage=Stage.SAMPLE)
    for _ in range(25):
        person = chance.choice(PEOPLE)
        expected = {event for event in EVENTS if event[1] == person and is_allowed(simulated.at, event)}
        options = simulated.options(person, KINDS)
        assert set(options) == expected and len(options) == len(expected)
        before = dict(simulated.at)
        for event in EVENTS:
            if event[1] == person and event not in expected:
                with pytest.raises(Refused, match="Expected"):
                    simulated.do(event)
        assert simulated.at == before
        done = simulated.act(person, chance, kinds=KINDS)
        assert done in expected if expected else done is None
        assert simulated.at == (after(before, done) if done else before)


def test_refusals_name_the_reason() -> None:
    simulated = world()
    for event, reason in {
        ("go", "Mary", "attic"): "Expected a place that one can go to from the hall, got the attic.",
        ("go", "Mary", "hall"): "Expected another place than the hall, where Mary is.",
        ("go", "Mary", "moon"): "Expected one of hall, kitchen, garden, attic, got 'moon'.",
        ("go", "Anna", "hall"): "Expected one of Mary, John, Fred, got 'Anna'.",
        ("get", "Mary", "apple"): "Expected what lies open, got the apple: get it from the box.",
        ("get", "Mary", "bag"): "Expected a thing where Mary is, got the bag.",
        ("get", "Mary", "table"): "Expected something to carry, got furniture: the table.",
        ("drop", "Mary", "milk"): "Expected what Mary has, got the milk.",
        (
            "fly",
            "Mary",
        ): "Expected one of go, get, get-from, put, give, drop, set, look, inventory, examine, got 'fly'.",
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


def test_a_thing_cannot_be_put_into_itself() -> None:
    simulated = world()
    for event in (
        ("get", "Mary", "box"),
        ("go", "Mary", "kitchen"),
        ("get", "Mary", "bag"),
        ("put", "Mary", "bag", "box"),
    ):
        simulated.do(event)
    with pytest.raises(Refused, match="Expected another thing than the box, which would be within itself"):
        simulated.put("Mary", "box", "bag")
    assert ("put", "Mary", "box", "bag") not in simulated.options("Mary", ("put",))
    with pytest.raises(Refused, match="within itself"):
        Simulation(WAYS, {"bag": "box", "box": "bag", "apple": "bag"}, people=(), containers=CONTAINERS)
    with pytest.raises(Refused, match="Expected a place of this world for apple, got 'moon'"):
        Simulation(WAYS, {"apple": "moon"}, people=())


def test_people_see_the_things_around_them() -> None:
    simulated = world(properties={"apple": {"colour": "green", "edible": "yes"}})
    assert simulated.look("Mary") == ("John", "milk", "box", "table")
    simulated.get_from("Mary", "apple", "box")
    simulated.get("Mary", "milk")
    simulated.put("Mary", "milk", "table")
    simulated.set("Mary", "box", "open")
    assert simulated.inventory("Mary") == ("apple",)
    assert simulated.examine("Mary", "apple") == {"colour": "green", "edible": "yes"}
    assert simulated.examine("Mary", "box") == {"state": "open", "in": ()}
    assert simulated.examine("Mary", "table") == {"on": ("milk",)}
    with pytest.raises(Refused, match="Expected what nobody else has"):
        simulated.examine("John", "apple")
    with pytest.raises(Refused, match="Expected another state"):
        simulated.set("John", "box", "open")


def test_a_hungry_person_gets_food_and_is_content() -> None:
    chance = stream(seed=1, split="test", index=0, stage=Stage.SAMPLE)
    simulated = world(rules={"Fred": [seeks("hungry", ("apple",), then="content")]})
    simulated.set("Fred", "Fred", "hungry")
    done = [simulated.act("Fred", chance, kinds=("go",)) for _ in range(4)]
    assert done == [
        ("go", "Fred", "hall"),
        ("get-from", "Fred", "apple", "box"),
        ("set", "Fred", "Fred", "content"),
        done[3],
    ]
    assert simulated.states == {"Fred": "content"} and done[3] is not None and done[3][0] == "go"


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
