"""The largest values in users' specs on this site: those of `generation.engine.spec`, unless staff change them.

They apply to specs that are sent to the site. Commands on the machine itself are limited only by the program's bounds.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from generation.engine.errors import BadSpec
from generation.engine.spec import LIMITS
from generation.models import Limit
from generation.specs import fields, loading

SAYABLE = 10**12


class BeyondLimit(BadSpec):
    """A spec exceeds a limit of the user; staff may raise it."""


class LimitedValue(NamedTuple):
    where: str  # its path in the spec
    limit: str
    amount: int


def limits_for(user: Any) -> dict[str, int]:
    return {name: limit.standard for name, limit in LIMITS.items()} | Limit.objects.set_for(user)


def check(data: Mapping[str, Any], most: Mapping[str, int]) -> None:
    """Raise `BeyondLimit` with all values in a spec's JSON that exceed `most`. The spec may be invalid."""
    beyond = [
        BeyondLimit(_beyond(name, amount, most), where=where)
        for where, name, amount in _asked(data)
        if amount > most[name]
    ]
    if beyond:
        raise BeyondLimit(beyond[0].reason, where=beyond[0].where, others=beyond[1:])


def _beyond(name: str, amount: int, most: Mapping[str, int]) -> str:
    got = f"{amount:,}" if amount < SAYABLE else "far more"
    return f"Expected at most {most[name]:,} {LIMITS[name].unit}, got {got}. {_who_can_raise(name, most)}"


def _who_can_raise(name: str, most: Mapping[str, int]) -> str:
    ceiling = LIMITS[name].ceiling
    if most[name] >= ceiling:
        return "The program allows no more."
    return (
        f"This is a limit of the site. Its staff can raise it up to {ceiling:,}, for you or for everybody, in the "
        "admin pages under Limits."
    )


def _asked(data: Mapping[str, Any]) -> Iterator[LimitedValue]:
    """Yield the limited values that are integers. Other values are defaults, or the engine refuses them."""
    limited = {
        parameter.path: parameter.limit for parameter in fields.parameters_of(loading.world_of(data)) if parameter.limit
    }
    found = data.get("splits")
    splits = found if isinstance(found, dict) else {}
    parts = {"": data}
    parts |= {f"splits.{name}.overrides.": fields.value_at(split, "overrides") for name, split in splits.items()}
    for prefix, part in parts.items():
        for path, limit in limited.items():
            yield from _number(fields.value_at(part, path), prefix + path, limit)
    for name, split in splits.items():
        yield from _number(fields.value_at(split, "scenes"), f"splits.{name}.scenes", "scenes")


def _number(value: Any, where: str, limit: str) -> Iterator[LimitedValue]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield LimitedValue(where, limit, value)
