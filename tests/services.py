"""Real services for tests: PostgreSQL, Redis, S3, Blender, a browser.

If a service is missing, the test is skipped with a message how to get it. If services are required, `tests.skips` makes
this a failure.
"""

import os
import shutil
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import psycopg
import pytest
import redis
from psycopg import sql

from tests.proof import SHARE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

POSTGRES_URL = os.environ.get("HORSESENSE_TEST_POSTGRES_URL", "postgres://postgres@127.0.0.1:5432/postgres")
REDIS_URL = os.environ.get("HORSESENSE_TEST_REDIS_URL", "redis://127.0.0.1:6379")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# The same engine without a window takes a third less processor time. Each night, pages are tried in the whole browser.
CHROMIUM_NAMES = BROWSERS if SHARE == 1 else ("chromium-headless-shell", *BROWSERS)
WAIT = 60_000  # milliseconds to wait for an element of a page; long, because the machine may be busy
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-background-networking"]


def missing(what: str, how: str) -> NoReturn:
    """Skip the test with a message that says what is missing and how to get it."""
    pytest.skip(f"no {what}: {how}")


def url_of_database(name: str) -> str:
    """Return the address of a database of the tests' PostgreSQL."""
    return f"{POSTGRES_URL.rpartition('/')[0]}/{name}"


def create_database(name: str, *, template: str = "template1") -> None:
    """Create a PostgreSQL database as a copy of another."""
    command = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    _execute_on_postgres(command.format(sql.Identifier(name), sql.Identifier(template)))


def drop_database(name: str) -> None:
    """Drop a PostgreSQL database if it exists, also while clients are connected to it."""
    _execute_on_postgres(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _execute_on_postgres(command: sql.Composed) -> None:
    try:
        server = psycopg.connect(POSTGRES_URL, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as error:
        reason = str(error).splitlines()[0]
        missing(f"PostgreSQL ({reason})", "start one, or name it in HORSESENSE_TEST_POSTGRES_URL")
    with server:
        server.execute(command)


@contextmanager
def temporary_database(*, template: str = "template1") -> Iterator[str]:
    """Give the address of a new PostgreSQL database, which is a copy of another one and is dropped afterwards."""
    name = f"horsesense_test_{uuid.uuid4().hex[:12]}"
    create_database(name, template=template)
    try:
        yield url_of_database(name)
    finally:
        drop_database(name)


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """Return the address of an empty PostgreSQL database, which is dropped after the test."""
    with temporary_database() as url:
        yield url


@dataclass(frozen=True, kw_only=True)
class RedisServer:
    """A Redis server for one test. All keys of the site have the prefix and are deleted afterwards."""

    url: str
    prefix: str

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings that make a site use it."""
        return {"REDIS_URL": self.url, "REDIS_PREFIX": self.prefix}


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    """Return a Redis server with a prefix that only this test uses."""
    server = RedisServer(url=REDIS_URL.rstrip("/"), prefix=f"test-{uuid.uuid4().hex[:12]}:")
    try:
        redis.from_url(server.url, socket_connect_timeout=3).ping()
    except redis.RedisError as error:
        missing(f"Redis ({type(error).__name__})", "start one, or name it in HORSESENSE_TEST_REDIS_URL")
    yield server
    for number in (0, 1):
        with redis.from_url(f"{server.url}/{number}") as client:
            for key in client.scan_iter(f"*{server.prefix}*"):
                client.delete(key)


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """Return the address of a Redis server. The test must choose key names that no other test uses."""
    return redis_server.url


@dataclass(frozen=True, kw_only=True)
class S3:
    """An S3 service with one empty bucket."""

    endpoint: str
    bucket: str = "horsesense"
    key: str = "test"
    secret: str = "test"

    @property
    def storage(self) -> dict[str, Any]:
        """Return Django's setting of a storage in this bucket."""
        options = {"bucket_name": self.bucket, "endpoint_url": self.endpoint, "region_name": "us-east-1"}
        access = {"access_key": self.key, "secret_key": self.secret, "file_overwrite": True, "default_acl": None}
        return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options | access}

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings that make a site use it."""
        return {
            "S3_BUCKET": self.bucket,
            "S3_ENDPOINT_URL": self.endpoint,
            "S3_REGION": "us-east-1",
            "S3_ACCESS_KEY_ID": self.key,
            "S3_SECRET_ACCESS_KEY": self.secret,
        }


@pytest.fixture
def s3() -> Iterator[S3]:
    """Return an S3 service that only this test uses."""
    import boto3  # these two imports take a second, therefore only tests that need them import them
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    service = S3(endpoint=f"http://{host}:{port}")
    # All servers of one process share their content, and an earlier test may have left files.
    with urllib.request.urlopen(
        urllib.request.Request(f"{service.endpoint}/moto-api/reset", method="POST"), timeout=60
    ):
        pass
    client = boto3.client(
        "s3",
        endpoint_url=service.endpoint,
        region_name="us-east-1",
        aws_access_key_id=service.key,
        aws_secret_access_key=service.secret,
    )
    client.create_bucket(Bucket=service.bucket)
    yield service
    server.stop()


@pytest.fixture(scope="session")
def blender() -> None:
    """Skip the test if Blender is missing."""
    from generation.engine.errors import NoRenderer
    from generation.engine.render.blender import check

    try:
        check()
    except NoRenderer:
        missing("Blender", "make blender")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of Chromium."""
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        missing("Chromium", "apt install chromium, or chromium-headless-shell")
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> "Iterator[Browser]":
    """Return a running browser, shared by the tests of this process; make a context for each test."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT)

    # Playwright runs an event loop in this thread, because of which Django would refuse synchronous queries.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield running
        running.close()
