"""The API does not change by accident."""

import json

from tests.webapp.api.fingerprints import HELD, current, resolve_references

ADVICE = "If the API is meant to change: run `python -m tests.webapp.api.fingerprints`, and write a CHANGELOG line."


def test_every_operation_has_the_same_fingerprint_as_before() -> None:
    held, found = json.loads(HELD.read_text()), current()
    changed = sorted(name for name in held.keys() | found.keys() if held.get(name) != found.get(name))
    assert not changed, f"Changed: {', '.join(changed)}. {ADVICE}"


def test_fingerprints_depend_on_fields_of_classes_but_not_on_their_names() -> None:
    def resolve(name: str, field: str) -> object:
        classes = {name: {"title": name, "properties": {field: {"type": "string"}, "more": {"$ref": f"#/{name}"}}}}
        return resolve_references({"$ref": f"#/components/schemas/{name}"}, classes)

    assert resolve("One", "text") == resolve("Other", "text") != resolve("One", "words")
