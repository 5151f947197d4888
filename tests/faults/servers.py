"""Servers that a test starts and can stop or kill: Redis, PostgreSQL, and a bucket."""

import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import boto3
import psycopg
import redis

from tests.services import S3, missing

LIMIT = 60.0  # seconds; a server that does not answer within this time fails the test


def free_port() -> int:
    """Return a free port of this machine, outside of the range from which the system takes ports of connections."""
    while True:
        port = random.SystemRandom().randrange(20000, 32000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def wait_for(answers: Callable[[], object], *, what: str) -> None:
    end = time.monotonic() + LIMIT
    while True:
        with suppress(redis.RedisError, psycopg.OperationalError, OSError):
            answers()
            return
        assert time.monotonic() < end, f"{what} did not answer within {LIMIT:.0f} s"
        time.sleep(0.05)


class RedisProcess:
    """A Redis server that stores its data on disk, like the one of the compose file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self, *more: str, wait: bool = True) -> None:
        program = shutil.which("redis-server")
        if program is None:
            missing("redis-server", "apt install redis-server")
        self.folder.mkdir(parents=True, exist_ok=True)
        options = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder), "--appendonly", "yes"]
        self.process = subprocess.Popen([program, *options, "--save", "", *more], stdout=subprocess.DEVNULL)
        if wait:
            wait_for(lambda: redis.from_url(self.url).ping(), what="Redis")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@contextmanager
def own_redis(folder: Path) -> Iterator[RedisProcess]:
    """Give a running Redis."""
    server = RedisProcess(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


class PostgresCluster:
    """A PostgreSQL server with one empty database, for tests that have to stop it.

    It listens at `addresses` (separated by commas) and `port`, by default a free port.
    """

    def __init__(self, folder: Path, *, addresses: str = "127.0.0.1", port: int | None = None) -> None:
        self.folder, self.addresses, self.port = folder, addresses, port or free_port()
        self.user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def make(self) -> None:
        if self.user is not None:
            shutil.chown(self.folder, self.user)
        self._run("initdb", "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-locale", "-N")

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses={self.addresses} -c unix_socket_directories='' -c fsync=off"
        self._run("pg_ctl", "start", "-w", "-o", options, "-l", str(self.folder / "log"))
        wait_for(lambda: psycopg.connect(self.url, connect_timeout=3).close(), what="PostgreSQL")

    def stop(self, *, mode: str = "fast") -> None:
        """Stop the server; the mode `immediate` has the effect of a power cut."""
        self._run("pg_ctl", "stop", "-w", "-m", mode)

    def copy_from(self, url: str) -> None:
        """Copy the tables of another database, which takes less time than to migrate an empty one."""
        programs = [str(program_of_postgresql(name)) for name in ("pg_dump", "psql")]
        command = f"{programs[0]} --no-owner '{url}' | {programs[1]} --quiet --output /dev/null '{self.url}'"
        subprocess.run(["sh", "-c", command], check=True)

    def require_passwords(self) -> None:
        """Ask every further client for the password of its role, as the image of the compose file does."""
        (self.folder / "data" / "pg_hba.conf").write_text("host all all all scram-sha-256\n")
        self._run("pg_ctl", "reload")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(program_of_postgresql(program)), "-D", str(self.folder / "data"), *arguments]
        done = subprocess.run(command, user=self.user, cwd="/", capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr or done.stdout}"


@contextmanager
def own_postgres(*, addresses: str = "127.0.0.1", port: int | None = None) -> Iterator[PostgresCluster]:
    """Give a running PostgreSQL server that nothing else uses."""
    program_of_postgresql("initdb")
    folder = Path(tempfile.mkdtemp(prefix="horsesense-postgres-"))  # its user cannot open pytest's folders
    cluster = PostgresCluster(folder, addresses=addresses, port=port)
    try:
        cluster.make()
        cluster.start()
        yield cluster
    finally:
        with suppress(AssertionError):  # it may be stopped already
            cluster.stop(mode="immediate")
        shutil.rmtree(folder, ignore_errors=True)


def program_of_postgresql(name: str) -> Path:
    """Return the path of a program of the PostgreSQL server. Debian does not put these programs on the PATH."""
    for path in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True):
        return path
    found = shutil.which(name)
    if found is None:
        missing(f"PostgreSQL server program {name}", "apt install postgresql")
    return Path(found)


class Bucket:
    """A new bucket of an S3 service, and the files in it."""

    def __init__(self, service: S3) -> None:
        self.name = f"faults-{uuid.uuid4().hex[:12]}"  # random: S3 services of one process share buckets
        self.environment = {**service.environment, "S3_BUCKET": self.name}
        self.client = boto3.client(
            "s3",
            endpoint_url=service.endpoint,
            region_name="us-east-1",
            aws_access_key_id=service.key,
            aws_secret_access_key=service.secret,
        )
        self.client.create_bucket(Bucket=self.name)

    def names(self) -> set[str]:
        return set(self.digests())

    def digests(self) -> dict[str, str]:
        """Return each name with a digest of its content."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name)
        return {entry["Key"]: entry["ETag"] for page in pages for entry in page.get("Contents", [])}


class BlackHole:
    """A server that accepts connections and never answers, in place of Redis on its port."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.server: socket.socket | None = None
        self.taken: list[socket.socket] = []

    def __enter__(self) -> "BlackHole":
        self.server = socket.create_server(("127.0.0.1", self.port), backlog=200)
        threading.Thread(target=self._accept, args=(self.server,), daemon=True).start()
        return self

    def _accept(self, server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                self.taken.append(server.accept()[0])

    def __exit__(self, *_: object) -> None:
        assert self.server is not None
        with suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)  # it ends `accept` in the thread
        self.server.close()
        for taken in self.taken:
            taken.close()
