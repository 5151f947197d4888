"""The API changes only when somebody means it to."""

import json

from tests.webapp.api.fingerprints import HELD, current, resolved

ADVICE = "If the API is meant to change: run `python -m tests.webapp.api.fingerprints`, and write a CHANGELOG line."


def test_every_operation_is_described_as_before() -> None:
    held, found = json.loads(HELD.read_text()), current()
    changed = sorted(name for name in held.keys() | found.keys() if held.get(name) != found.get(name))
    assert not changed, f"Changed: {', '.join(changed)}. {ADVICE}"


def test_fields_of_classes_count_and_names_do_not() -> None:
    def described(name: str, field: str) -> object:
        classes = {name: {"title": name, "properties": {field: {"type": "string"}, "more": {"$ref": f"#/{name}"}}}}
        return resolved({"$ref": f"#/components/schemas/{name}"}, classes)

    assert described("One", "text") == described("Other", "text") != described("One", "words")
