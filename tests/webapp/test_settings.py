"""Settings: every variable is documented, every default is safe, and secrets are stored safely."""

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from generation.queue import DEFAULT
from tests.services import S3
from tests.webapp.commands import ROOT, manage, show_settings
from webapp import settings as site
from webapp.environment import SiteEnvironment, Variable, locate, resolve
from webapp.running import worker
from webapp.running.secret_files import kept_secret

pytestmark = pytest.mark.slow  # many tests start processes

SOURCES = sorted(
    path for folder in ("webapp", "generation", "annotations") for path in ROOT.joinpath(folder).rglob("*.py")
)


def test_the_table_has_exactly_the_variables_that_are_read() -> None:
    text = (ROOT / "webapp/settings.py").read_text()
    assert set(re.findall(r'env\["(\w+)"\]', text)) == {variable.name for variable in site.VARIABLES}


def test_no_module_reads_other_variables_of_the_environment() -> None:
    for path in SOURCES:
        names = set(re.findall(r'(?:environ(?:\.get|\.setdefault)?|getenv)[\[(]"(\w+)"', path.read_text()))
        assert names <= {"DJANGO_SETTINGS_MODULE", "NUMBA_CACHE_DIR"}, path


def test_no_variable_is_listed_twice() -> None:
    names = [variable.name for variable in site.VARIABLES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("variable", site.VARIABLES, ids=lambda variable: variable.name)
def test_every_variable_has_a_description_and_a_default(variable: Variable) -> None:
    assert variable.about.endswith(".")
    assert variable.default_text


def test_a_variable_of_the_wrong_kind_is_one_line_and_status_2(site_environment: dict[str, str]) -> None:
    ended = manage("check", environment=site_environment | {"WEB_THREADS": "many"})
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "WEB_THREADS: expected a whole number of 1 or more, got 'many'" in ended.stderr


REFUSED = [
    ("PUBLIC_URL", "horsesense.example.org", "http(s)://host or http(s)://host:port"),
    ("PUBLIC_URL", "https://example.org/under/", "http(s)://host or http(s)://host:port"),
    ("PUBLIC_URL", "http://x:abc", "http(s)://host or http(s)://host:port"),
    ("PUBLIC_URL", "http://x:99999", "http(s)://host or http(s)://host:port"),
    ("REDIS_URL", "redis://127.0.0.1/3", "without a database number"),
    ("REDIS_URL", "zzz", "redis://host:port"),
    ("DATABASE_URL", "nonsense://x", "postgres://"),
    ("DATABASE_URL", "mysql://u:p@host/name", "postgres://"),
    ("DATABASE_URL", "postgres://host", "postgres://"),
    ("EMAIL_URL", "zzz", "submission://"),
    ("EMAIL_URL", "submission://", "submission://"),
    ("EMAIL_URL", "smtp://host:abc", "submission://"),
    ("LOG_LEVEL", "foo", "one of DEBUG, INFO, WARNING, ERROR, CRITICAL"),
    ("TIME_ZONE", "Nowhere/Land", "a time zone"),
    ("TIME_ZONE", "Europe", "a time zone"),
    ("TIME_ZONE", "../etc/passwd", "a time zone"),
    ("WEB_THREADS", "-3", "a whole number of 1 or more"),
    ("WEB_PROCESSES", "0", "a whole number of 1 or more"),
    ("GENERATION_PROCESSES", "-1", "a whole number of 1 or more"),
    ("HSTS_SECONDS", "-1", "a whole number of 0 or more"),
    ("DISK_RESERVE_GB", "nan", "a number of 0 or more"),
    ("DISK_RESERVE_GB", "inf", "a number of 0 or more"),
    ("S3_ENDPOINT_URL", "minio:9000", "http(s)://host"),
    ("TRUSTED_PROXIES", "10.0.0.0/8,proxy", "addresses or networks"),
    ("TRUSTED_PROXIES", "10.0.0.0/99", "addresses or networks"),
    ("UPLOAD_MB", "0", "a whole number of 1 or more"),
    ("PROXY_SENDS_FILES", "sometimes", "yes or no"),
    ("DEBUG", "maybe", "expected yes or no"),
]


@pytest.mark.parametrize(("name", "value", "expected"), REFUSED)
def test_a_value_that_cannot_be_used_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, expected: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=f"^{name}: expected .*, got ") as refusal:
        site.env[name]
    assert expected in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert (value in str(refusal.value).partition(", got ")[2]) is not site.env.variables[name].secret


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("PUBLIC_URL", "https://data.example.org:8443/", "https://data.example.org:8443/"),
        ("PUBLIC_URL", "http://[::1]:8000", "http://[::1]:8000"),
        ("REDIS_URL", "rediss://:pw@cache.example.org:6380/", "rediss://:pw@cache.example.org:6380/"),
        ("LOG_LEVEL", "warning", "WARNING"),
        ("TIME_ZONE", "Europe/Berlin", "Europe/Berlin"),
        ("GENERATION_PROCESSES", "1", 1),
        ("DISK_RESERVE_GB", "0", 0.0),
        ("S3_ENDPOINT_URL", "http://minio:9000", "http://minio:9000"),
        ("TRUSTED_PROXIES", "192.0.2.7,fc00::/7", ["192.0.2.7", "fc00::/7"]),
    ],
)
def test_a_value_that_can_be_used_is_accepted(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, read: object
) -> None:
    monkeypatch.setenv(name, value)
    assert site.env[name] == read


@pytest.mark.parametrize("name", ["DATABASE_URL", "EMAIL_URL"])
def test_the_address_given_as_an_example_can_be_used(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    example = re.search(r"For example (\w\S+?)[.,]? ", site.env.variables[name].about)
    assert example is not None
    monkeypatch.setenv(name, example[1])
    assert "host" in site.env[name].values()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_LEVEL", "foo"),
        ("TIME_ZONE", "Nowhere/Land"),
        ("EMAIL_URL", "zzz"),
        ("DATABASE_URL", "mysql://u:p@host/name"),
        ("GENERATION_PROCESSES", "-1"),
    ],
)
def test_a_bad_value_is_one_line_and_status_2(site_environment: dict[str, str], name: str, value: str) -> None:
    ended = manage("check", environment=site_environment | {name: value})
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith(f"{name}: expected ")


@pytest.mark.parametrize(("level", "lines"), [("CRITICAL", 0), ("WARNING", 2), ("INFO", 3)])
def test_the_log_level_applies_to_the_loggers_of_django(
    site_environment: dict[str, str], level: str, lines: int
) -> None:
    code = (
        "import logging; logging.getLogger('django.request').error('x');"
        "logging.getLogger('django.server').warning('x'); logging.getLogger('django').info('x')"
    )
    environment = site_environment | {"LOG_LEVEL": level}
    ended = manage("shell", "--no-imports", "-c", code, environment=environment)
    assert (ended.returncode, ended.stderr.count("\n")) == (0, lines), ended.stderr


def test_the_listener_of_a_worker_logs_at_the_level_of_the_site(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LOG_LEVEL = "ERROR"
    listeners: list[list[str]] = []
    monkeypatch.setattr(worker.app, "worker_main", listeners.append)
    worker.listen(DEFAULT)
    assert "--loglevel ERROR" in " ".join(listeners[0])


def test_a_secret_value_is_not_in_an_error_message() -> None:
    variable = Variable(name="PIN", kind="whole number", default=0, about="x", group="x", secret=True)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ImproperlyConfigured) as refusal:
        patch.setenv("PIN", "hunter2")
        SiteEnvironment([variable])["PIN"]
    assert "hunter2" not in str(refusal.value)


def test_an_empty_variable_gets_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME", "  ")
    assert SiteEnvironment([Variable(name="SOME", kind="number", default=2.5, about="x", group="x")])["SOME"] == 2.5


def test_a_relative_folder_is_relative_to_the_base(tmp_path: Path) -> None:
    assert resolve("var", base=tmp_path) == tmp_path / "var"
    assert resolve("/srv/x", base=tmp_path) == Path("/srv/x")


def test_the_secret_key_is_made_once_and_only_its_owner_can_read_it(site_environment: dict[str, str]) -> None:
    path = Path(site_environment["VAR_DIR"], "secret_key")
    assert manage("check", environment=site_environment).returncode == 0
    first = path.read_text()
    assert manage("check", environment=site_environment).returncode == 0
    assert path.read_text() == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_only_one_of_many_simultaneous_callers_makes_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    with ThreadPoolExecutor(16) as threads:
        secrets = set(threads.map(lambda _: kept_secret(path), range(64)))
    assert secrets == {path.read_text()}
    assert list(tmp_path.iterdir()) == [path]


def test_a_secret_that_is_too_short_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("short")
    with pytest.raises(ImproperlyConfigured, match="expected a secret of 32 characters or more, got 5"):
        kept_secret(tmp_path / "secret")


def test_a_folder_that_cannot_be_written_is_named(site_environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = manage("check", environment=site_environment | {"VAR_DIR": str(tmp_path / "file" / "var")})
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "VAR_DIR: expected a folder this user can write" in ended.stderr


def test_a_site_with_https_passes_djangos_own_check(site_environment: dict[str, str]) -> None:
    environment = site_environment | {"PUBLIC_URL": "https://horsesense.example.org"}
    ended = manage("check", "--deploy", "--fail-level", "WARNING", environment=environment)
    assert ended.returncode == 0, ended.stderr
    assert "no issues" in ended.stdout


def print_settings(expression: str, environment: dict[str, str]) -> str:
    ended = show_settings(expression, environment=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_the_public_address_sets_hosts_origins_and_cookies(site_environment: dict[str, str]) -> None:
    expression = "s.ALLOWED_HOSTS[-1], s.CSRF_TRUSTED_ORIGINS, s.SESSION_COOKIE_SECURE, s.SECURE_SSL_REDIRECT"
    https = site_environment | {"PUBLIC_URL": "https://data.example.org:8443"}
    assert print_settings(expression, https) == "data.example.org ['https://data.example.org:8443'] True True"
    assert print_settings(expression, site_environment) == "[::1] [] False False"


def test_sqlite_waits_and_writes_safely(site_environment: dict[str, str]) -> None:
    code = (
        "from django.db import connection as c; k = c.cursor();"
        "print([k.execute(f'PRAGMA {p}').fetchone()[0] for p in ('journal_mode', 'synchronous', 'busy_timeout')])"
    )
    ended = manage("shell", "--no-imports", "-c", code, environment=site_environment)
    assert ended.stdout.strip() == "['wal', 2, 20000]"


def test_redis_stores_messages_in_database_0_and_the_cache_in_1(site_environment: dict[str, str]) -> None:
    environment = site_environment | {"REDIS_URL": "redis://:pw@cache.example.org:6380/"}
    expression = "s.CELERY_BROKER_URL, s.CACHES['default']['LOCATION']"
    assert print_settings(expression, environment) == (
        "redis://:pw@cache.example.org:6380/0 redis://:pw@cache.example.org:6380/1"
    )


def test_files_go_to_s3_when_a_bucket_is_named(site_environment: dict[str, str], s3: S3) -> None:
    code = (
        "from django.core.files.storage import default_storage as d; from django.core.files.base import ContentFile;"
        "n = d.save('a/b.txt', ContentFile(b'kept')); print(d.__class__.__name__, d.open(n).read())"
    )
    ended = manage("shell", "--no-imports", "-c", code, environment=site_environment | s3.environment)
    assert ended.stdout.strip().endswith("b'kept'"), ended.stderr
    assert "S3" in ended.stdout


@pytest.mark.full
@pytest.mark.slow
def test_the_site_migrates_on_postgresql(site_environment: dict[str, str], postgres_url: str) -> None:
    ended = manage("migrate", "--verbosity", "0", environment=site_environment | {"DATABASE_URL": postgres_url})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not Path(site_environment["VAR_DIR"], "horsesense.sqlite3").exists()


def test_symbolic_links_in_the_path_of_a_program_are_not_resolved(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    program.symlink_to("/bin/true")
    assert locate("bin/python", base=tmp_path) == program
    assert locate(program, base=Path("/nowhere")) == program
    assert resolve(program, base=tmp_path) != program
