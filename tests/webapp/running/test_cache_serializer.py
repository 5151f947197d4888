"""The values in Redis are JSON, so that a client that can write to Redis cannot run code on the site."""

import pickle
from typing import Any

import pytest
import redis
from django.core.cache.backends.redis import RedisCache

from tests.services import RedisServer
from webapp.settings import CELERY_ACCEPT_CONTENT


class Harm:
    """A value that runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("Code of a cached value was run.",))


@pytest.fixture
def cache(redis_server: RedisServer) -> RedisCache:
    options = {"serializer": "webapp.running.cache_serializer.JSONSerializer"}
    return RedisCache(f"{redis_server.url}/1", {"KEY_PREFIX": redis_server.prefix, "OPTIONS": options})


@pytest.mark.parametrize("value", [7, 0.5, "ß", True, None, [[1.5, 2.0], [3.0]], {"a": [1]}])
def test_values_are_the_same_after_reading(cache: RedisCache, value: Any) -> None:
    cache.set("key", value)
    assert cache.get("key", "nothing") == value
    assert type(cache.get("key")) is type(value)


def test_counting_works(cache: RedisCache) -> None:
    cache.set("count", 1)
    assert cache.incr("count") == 2


def test_a_pickle_is_never_opened(cache: RedisCache, redis_server: RedisServer) -> None:
    cache.set("key", 1)
    with redis.from_url(f"{redis_server.url}/1") as server:
        server.set(cache.make_key("key"), pickle.dumps(Harm()))
    with pytest.raises(ValueError):
        cache.get("key")


def test_messages_are_json() -> None:
    assert CELERY_ACCEPT_CONTENT == ["json"]
