"""Serializes values for Redis as JSON, which can't contain code. Integers are not changed, so that INCR works."""

import json
from typing import Any


class JSONSerializer:
    """The serializer for Django's cache, in place of pickle."""

    def dumps(self, value: Any) -> bytes | int:
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)
