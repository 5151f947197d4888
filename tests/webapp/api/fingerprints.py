"""The fingerprint of each operation of the API's description: `python -m tests.webapp.api.fingerprints`.

It writes fingerprints.json into its folder. Run it after an intended change of the API, and describe the change in the
CHANGELOG. A fingerprint depends on the address, parameters, bodies and answers of an operation, but not on the names
of classes and on texts for people.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

HELD = Path(__file__).with_name("fingerprints.json")
TEXTS = {"title", "operationId", "description", "summary"}


def current() -> dict[str, str]:
    """Return the fingerprints of the present API, which fingerprints.json should contain."""
    from webapp.api.urls import api

    description = json.loads(json.dumps(api.get_openapi_schema(), default=str))
    classes = description["components"]["schemas"]
    return {
        f"{verb.upper()} {path}": hashlib.sha256(
            json.dumps(resolve_references(operation, classes), sort_keys=True).encode()
        ).hexdigest()[:16]
        for path, operations in sorted(description["paths"].items())
        for verb, operation in operations.items()
    }


def resolve_references(value: Any, classes: dict[str, Any], inside: tuple[str, ...] = ()) -> Any:
    """Return a description in which each reference to a class is replaced by the fields of the class."""
    if isinstance(value, list):
        return [resolve_references(one, classes, inside) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return "itself" if name in inside else resolve_references(classes[name], classes, (*inside, name))
    return {
        key: resolve_references(one, classes, inside)
        for key, one in value.items()
        if key not in TEXTS or not isinstance(one, str)  # a field may have one of these names
    }


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    HELD.write_text(json.dumps(current(), indent=1) + "\n")
