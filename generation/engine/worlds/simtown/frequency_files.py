"""Frequency files: how often each entity is the subject and the object of questions, as a spec names them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from generation.engine.errors import BadSpec
from generation.engine.reading.bounded_json import BadJson, loads
from generation.engine.spec import merge


def with_shares(data: Mapping[str, Any], content_of: Callable[[str], bytes]) -> dict[str, Any]:
    """Return a spec with the shares of each frequency file in the place of its name; raise `BadSpec`.

    Parameters
    ----------
    data : mapping
        The spec as JSON.
    content_of : function
        Returns the content of the file with a name; raises `OSError`, `KeyError` or `ValueError` if there is none.
    """
    result = merge(data, {})
    for where, questions in _all_questions(result):
        name = questions.get("shares")
        if not isinstance(name, str):
            continue
        try:
            content = content_of(name)
        except (OSError, KeyError, ValueError) as error:
            raise BadSpec(
                f"Expected the shares of each entity, or the name of a file with them, got {name!r}, which is no file "
                "that can be read.",
                where=where,
            ) from error
        questions["shares"] = read_shares(content, name=name, where=where)
    return result


def _all_questions(data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the questions of a spec and of the overrides of its splits, each with the path of its shares."""
    splits = data.get("splits")
    parts = {"": data}
    for name, split in splits.items() if isinstance(splits, dict) else ():
        parts[f"splits.{name}.overrides."] = split.get("overrides", {}) if isinstance(split, dict) else {}
    for path, part in parts.items():
        questions = part.get("questions") if isinstance(part, dict) else None
        if isinstance(questions, dict):
            yield f"{path}questions.shares", questions


def read_shares(content: bytes, *, name: str, where: str) -> dict[str, Any]:
    """Return the shares in a frequency file as a spec has them; raise `BadSpec`.

    The file is a JSON list of objects with `name`, `subject` and `object`.
    """
    try:
        rows = loads(content)
    except BadJson as error:
        raise BadSpec(f"Expected a readable JSON file, got {name!r} ({error}).", where=where) from error
    try:
        names = [row["name"] for row in rows]
        if len(set(names)) < len(names):
            raise BadSpec(f"Expected each name once in {name}, got one of them twice.", where=where)
        return {row["name"]: {"subject": float(row["subject"]), "object": float(row["object"])} for row in rows}
    except (KeyError, TypeError, ValueError) as error:
        raise BadSpec(
            f"Expected a list of objects with name, subject and object in {name}, got something else ({error!r}).",
            where=where,
        ) from error
