"""PostgreSQL and Redis over TLS, with certificates of the tests; certificates of an unknown authority are refused."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.faults.servers import free_port, wait_for
from tests.services import missing
from tests.webapp.commands import environment_of, manage, show_settings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two authorities (ca.crt, other.crt) and a server's certificate signed by the first."""
    folder = tmp_path_factory.mktemp("tls")
    if shutil.which("openssl") is None:
        missing("openssl", "apt install openssl")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.crt")  # fmt: skip
    openssl(
        "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr"
    )
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "server.crt")  # fmt: skip
    (folder / "server.key").chmod(0o600)
    return folder


@pytest.fixture
def tls_redis(certificates: Path, tmp_path: Path) -> Iterator[int]:
    """Return the port of a Redis server that only accepts TLS."""
    program = shutil.which("redis-server")
    if program is None:
        missing("redis-server", "apt install redis-server")
    port = free_port()
    command = [program, "--port", "0", "--tls-port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path)]
    command += ["--tls-cert-file", str(certificates / "server.crt"), "--tls-key-file", str(certificates / "server.key")]
    command += ["--tls-ca-cert-file", str(certificates / "ca.crt"), "--tls-auth-clients", "no", "--save", ""]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    address = f"rediss://127.0.0.1:{port}?ssl_ca_certs={certificates / 'ca.crt'}"
    wait_for(lambda: redis.from_url(address).ping(), what="Redis over TLS")
    yield port
    server.kill()
    server.wait()


USES = """
import json
from django.core.cache import cache
from webapp.monitoring import health
from webapp.celery import app
cache.set("key", "value")
with app.connection_for_write() as connection:
    queue = connection.SimpleQueue("tls")
    queue.put({"a": 1}); message = queue.get(timeout=10); message.ack()
print(json.dumps([cache.get("key"), message.payload, health.broker_trouble()]))
"""


def test_cache_messages_and_health_check_use_tls(
    tls_redis: int, certificates: Path, site_environment: dict[str, str]
) -> None:
    address = f"rediss://127.0.0.1:{tls_redis}?ssl_cert_reqs=required&ssl_ca_certs={certificates}"
    environment = site_environment | {"REDIS_URL": f"{address}/ca.crt"}
    ended = manage("shell", "--no-imports", "--command", USES, environment=environment)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == '["value", {"a": 1}, ""]'


def test_a_redis_with_a_certificate_of_an_unknown_authority_is_refused(
    tls_redis: int, certificates: Path, site_environment: dict[str, str]
) -> None:
    address = f"rediss://127.0.0.1:{tls_redis}?ssl_cert_reqs=required&ssl_ca_certs={certificates}"
    look = "from webapp.monitoring import health; print(health.broker_trouble())"
    environment = site_environment | {"REDIS_URL": f"{address}/other.crt"}
    ended = manage("shell", "--no-imports", "--command", look, environment=environment)
    assert ended.stdout.strip() == "ConnectionError", ended.stderr


@pytest.mark.parametrize(
    ("address", "fits"),
    [
        ("rediss://user:pass@redis.example.org:6380?ssl_cert_reqs=required&ssl_ca_certs=/etc/ca.crt", True),
        ("rediss://redis.example.org", True),
        ("rediss://redis.example.org/0?ssl_cert_reqs=required", False),
    ],
)
def test_addresses_of_redis_may_have_options(site_environment: dict[str, str], address: str, fits: bool) -> None:
    environment = site_environment | {"REDIS_URL": address}
    ended = show_settings("s.CELERY_BROKER_URL, s.CACHES['default']['LOCATION']", environment=environment)
    assert (ended.returncode == 0) == fits, ended.stderr
    if fits:
        broker, cache = ended.stdout.split()
        assert "/0" in broker and "/1" in cache
        assert address.partition("?")[2] in broker and address.partition("?")[2] in cache


@pytest.fixture
def tls_postgres(certificates: Path, tmp_path: Path) -> Iterator[str]:
    """Return host, port and database name of a PostgreSQL server that only accepts TLS."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    program = found[-1] if found else shutil.which("initdb")
    if program is None:
        missing("initdb", "apt install postgresql")
    folder, port = tmp_path / "data", free_port()
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    place = tmp_path / "pg"
    place.mkdir()
    for path in (tmp_path, *tmp_path.parents):
        if path != Path("/") and path.is_relative_to("/tmp") and path != Path("/tmp"):
            path.chmod(path.stat().st_mode | 0o011)
    if as_user:
        shutil.chown(place, "postgres", "postgres")
    folder = place / "data"
    binaries = Path(program).parent
    command = [*as_user, str(program), "--auth=trust", "--username=postgres", "--no-sync", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    for name in ("server.crt", "server.key"):
        shutil.copy(certificates / name, folder / name)
        (folder / name).chmod(0o600)
        if as_user:
            shutil.chown(folder / name, "postgres", "postgres")
    (folder / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 trust\n")
    start = [
        *as_user,
        str(binaries / "postgres"),
        "-D",
        str(folder),
        "-p",
        str(port),
        "-h",
        "127.0.0.1",
        "-k",
        "",  # no socket, whose path could be too long
    ]
    server = subprocess.Popen([*start, "-c", "ssl=on", "-c", "fsync=off"], stdout=subprocess.DEVNULL)
    address = f"127.0.0.1:{port}/postgres"
    import psycopg

    wait_for(lambda: psycopg.connect(f"postgres://postgres@{address}?sslmode=require").close(), what="PostgreSQL")
    yield address
    server.terminate()
    server.wait(30)


@pytest.mark.full
def test_postgresql_is_used_over_tls(tls_postgres: str, certificates: Path, tmp_path: Path) -> None:
    look = "from django.db import connection as c; c.ensure_connection(); print(c.connection.pgconn.ssl_in_use)"
    cases = {
        "sslmode=require": "True",
        f"sslmode=verify-full&sslrootcert={certificates}/ca.crt": "True",
        f"sslmode=verify-full&sslrootcert={certificates}/other.crt": "certificate verify failed",
        "sslmode=disable": "no encryption",
    }
    for options, words in cases.items():
        environment = environment_of(tmp_path / "var", DATABASE_URL=f"postgres://postgres@{tls_postgres}?{options}")
        ended = manage("shell", "--no-imports", "--command", look, environment=environment)
        assert words in ended.stdout + ended.stderr, (options, ended.stderr)


@pytest.mark.full
def test_a_database_is_upgraded_over_tls(tls_postgres: str, tmp_path: Path) -> None:
    environment = environment_of(tmp_path / "var", DATABASE_URL=f"postgres://postgres@{tls_postgres}?sslmode=require")
    assert manage("upgrade", environment=environment, seconds=300).returncode == 0
