"""The site of docker-compose.yml as processes of this machine: proxy, web, worker, beat, Redis, PostgreSQL."""

import http.client
import json
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
import redis

from tests.generation import small
from tests.services import missing
from tests.webapp.commands import ROOT
from tests.webapp.compose import SECRETS, Compose, Mapper, fill_in_variables, quiet_ports
from webapp.settings import UPLOAD_MB

ORIGIN = "https://localhost"
PATIENCE = 600.0  # seconds; long, because the machine may be busy and may have to compile code first
SLUG = "shapes"
ADMIN, PASSWORD = "head", "clever-hans-1904"


@pytest.mark.parametrize(
    ("text", "settings", "meant"),
    [
        ("${NAME:-default}", {}, "default"),
        ("${NAME:-default}", {"NAME": ""}, "default"),
        ("a ${NAME:-} b ${OTHER}", {"OTHER": "x"}, "a  b x"),
        ("http://${NAME:-http://x}/", {"NAME": "y"}, "http://y/"),
        ("$${NAME%/}", {"NAME": "y"}, "${NAME%/}"),
        ("${NAME:?run make env}", {"NAME": "y"}, "y"),
    ],
)
def test_variables_are_filled_in_as_docker_compose_does(text: str, settings: dict[str, str], meant: str) -> None:
    assert fill_in_variables({"key": [text]}, settings) == {"key": [meant]}


def test_only_whole_addresses_and_folders_are_mapped() -> None:
    mapped = Mapper({"/data": "/tmp/d", "web:8000": "127.0.0.1:1", "redis:6379": "127.0.0.1:2"})
    assert mapped("redis://redis:6379/0 /data/x /database") == "redis://127.0.0.1:2/0 /tmp/d/x /database"
    assert mapped("my-web:8000 web:80001 x/data") == "my-web:8000 web:80001 x/data"
    assert mapped("reverse_proxy web:8000 {") == "reverse_proxy 127.0.0.1:1 {"


@pytest.fixture
def caddy() -> str:
    """Return the path of Caddy."""
    path = shutil.which("caddy")
    if path is None:
        missing("caddy", "apt install caddy")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("public_url", "listening"),
    [
        ("http://localhost", {":80"}),
        ("http://192.0.2.7", {":80"}),
        ("https://horsesense.example.org", {":80", ":443"}),
        ("https://[2001:db8::7]", {":80", ":443"}),
    ],
)
def test_the_public_address_determines_whether_the_proxy_uses_https(
    caddy: str, tmp_path: Path, public_url: str, listening: set[str]
) -> None:
    environment = {"PUBLIC_URL": public_url, "HOME": str(tmp_path)}

    def run_caddy(verb: str) -> "subprocess.CompletedProcess[str]":
        command = [caddy, verb, "--config", str(ROOT / "webapp/Caddyfile"), "--adapter", "caddyfile"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    assert run_caddy("validate").returncode == 0, run_caddy("validate").stderr
    servers = json.loads(run_caddy("adapt").stdout)["apps"]["http"]["servers"].values()
    assert {address for server in servers for address in server["listen"]} == listening


@dataclass
class Answer:
    """An answer to a request."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Visitor:
    """A small browser: it keeps cookies, and finds https://localhost on another port."""

    site: "Site"
    cookies: SimpleCookie = field(default_factory=SimpleCookie)

    def get(self, path: str, *, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
        secure = http.client.HTTPSConnection("localhost", self.site.https, timeout=PATIENCE, context=self.site.trust)
        sent = {name.replace("_", "-"): value for name, value in headers.items()} | {"Host": "localhost"}
        sent["Cookie"] = "; ".join(f"{name}={cookie.value}" for name, cookie in self.cookies.items())
        answer = ask(secure, method, path, body=body, headers=sent)
        for cookie in answer.headers.get_all("Set-Cookie", []):
            self.cookies.load(cookie)
        return answer

    def post(self, path: str, *, origin: str = ORIGIN, **fields: str) -> Answer:
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.get(path).text)
        assert token is not None
        body = urlencode({"csrfmiddlewaretoken": token[1], **fields}).encode()
        kind = "application/x-www-form-urlencoded"
        return self.get(path, method="POST", body=body, Origin=origin, Referer=origin + path, Content_Type=kind)


def ask(connection: http.client.HTTPConnection, method: str, path: str, **options: Any) -> Answer:
    try:
        connection.request(method, path, **options)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


class Site:
    """The six services, with their ports and settings."""

    def __init__(self, folder: Path, database: str) -> None:
        self.web, self.redis, self.http, self.https = quiet_ports(4)
        self.database = database
        settings = {"PUBLIC_URL": f"{ORIGIN}/", "UPLOAD_MB": "1", "GENERATION_PROCESSES": "1", "WEB_PROCESSES": "1"}
        settings |= SECRETS
        web = f"127.0.0.1:{self.web}"
        hosts = dict.fromkeys(("web:8000", "localhost:8000", "0.0.0.0:8000"), web) | {
            "redis:6379": f"127.0.0.1:{self.redis}",
            f"postgres://horsesense:{SECRETS['POSTGRES_PASSWORD']}@postgres:5432/horsesense": database,
        }
        self.compose = Compose(folder, settings={**settings, "DISK_RESERVE_GB": "0"}, hosts=hosts)

    @property
    def redis_url(self) -> str:
        return f"redis://:{SECRETS['REDIS_PASSWORD']}@127.0.0.1:{self.redis}"

    @property
    def trust(self) -> ssl.SSLContext:
        """Return a TLS context that trusts only the proxy's own authority."""
        return ssl.create_default_context(cafile=self.volume("proxy", "/data/caddy/pki/authorities/local/root.crt"))

    @property
    def media(self) -> Path:
        return self.volume("web", "/media")

    def volume(self, service: str, path: str) -> Path:
        return Path(self.compose.mapper(service)(path))

    def start(self) -> None:
        """Start the services in the order that docker-compose.yml sets."""
        folder = str(self.volume("redis", "/data"))
        self.compose.start("redis", "--port", str(self.redis), "--bind", "127.0.0.1", "--dir", folder)
        self.wait_until(lambda: redis.from_url(self.redis_url).ping(), what="Redis answers")
        with pytest.raises(redis.AuthenticationError):
            redis.from_url(f"redis://127.0.0.1:{self.redis}").ping()
        self.compose.start("web")
        longest = self.compose.patience("web")
        self.wait_until(lambda: self.compose.is_healthy("web"), what="the web server is healthy", seconds=longest)
        for name in ("worker", "beat"):
            self.compose.start(name)
        self.start_proxy()

    def start_proxy(self) -> None:
        """Start the proxy on unprivileged ports, which docker would publish as 80 and 443."""
        ports = f"\thttp_port {self.http}\n\thttps_port {self.https}\n"
        self.compose.use_caddyfile("proxy", options=ports)
        homes = {name: str(self.volume("proxy", "/data")) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        self.compose.start("proxy", **homes)  # the image sets these variables
        self.wait_until(lambda: Visitor(self).get("/health/web/").status == 200, what="the proxy answers")

    def stop(self) -> None:
        self.compose.stop()

    def wait_until(self, true: Callable[[], object], *, what: str, seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while True:
            with suppress(OSError, http.client.HTTPException, redis.RedisError):
                if true():
                    return
            ended = [name for name, process in self.compose.running.items() if process.poll() is not None]
            late = time.monotonic() > end
            assert not ended and not late, f"Waited until {what}. Ended: {ended}\n{self.compose.logs()}"
            time.sleep(0.5)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(query.encode()).fetchall()

    def past_the_proxy(self, path: str) -> Answer:
        """Return the answer of the web process to the proxy."""
        headers = {"Host": "localhost", "X-Forwarded-Proto": "https"}
        return ask(http.client.HTTPConnection("127.0.0.1", self.web, timeout=PATIENCE), "GET", path, headers=headers)

    def without_tls(self, path: str, **headers: str) -> Answer:
        sent = {"Host": "localhost"} | {name.replace("_", "-"): value for name, value in headers.items()}
        return ask(http.client.HTTPConnection("127.0.0.1", self.http, timeout=PATIENCE), "GET", path, headers=sent)


@pytest.fixture
def site(tmp_path: Path, postgres_url: str, caddy: str) -> Iterator[Site]:
    """Give a running site."""
    if shutil.which("redis-server") is None:
        missing("redis-server", "apt install redis-server")
    running = Site(tmp_path / "site", postgres_url)
    try:
        running.start()
        yield running
    finally:
        running.stop()


@pytest.mark.full
@pytest.mark.slow
def test_the_site_of_the_compose_file_works_behind_its_proxy(site: Site) -> None:
    """This is one test, because starting all six services takes longer than the checks."""
    redis_keeps_every_message(site)
    http_leads_to_https(site)
    head = sign_in_as_admin(site)
    make_dataset(site, head)
    pages_can_be_browsed(site)
    pictures_are_sent_by_the_proxy(site)
    ranges_and_unchanged_pictures_are_sent_correctly(site)
    files_have_no_address(site)
    withheld_pictures_are_refused(site, head)
    styles_are_cached_forever(site)
    all_parts_are_healthy(site)
    large_bodies_are_refused(site, head)
    without_web_the_proxy_shows_a_page(site)


def redis_keeps_every_message(site: Site) -> None:
    with redis.from_url(site.redis_url) as client:
        assert client.config_get("maxmemory-policy", "appendonly") == {
            "maxmemory-policy": "noeviction",
            "appendonly": "yes",
        }
    assert list(site.volume("redis", "/data").rglob("*.aof"))


def http_leads_to_https(site: Site) -> None:
    answer = site.without_tls("/datasets/?page=2")
    assert (answer.status, answer.headers["Location"]) == (308, f"{ORIGIN}/datasets/?page=2")
    # The host is unknown to the proxy, and the visitor claims to use https.
    lying = site.without_tls("/", Host="127.0.0.1", X_Forwarded_Proto="https", X_Forwarded_For="10.0.0.1")
    assert (lying.status, lying.headers["Location"]) == (301, "https://127.0.0.1/")
    assert site.without_tls("/", Host="evil.example.org").status == 400
    home = Visitor(site).get("/")
    assert home.status == 200
    assert home.headers["Strict-Transport-Security"].startswith("max-age=")
    assert "default-src 'self'" in home.headers["Content-Security-Policy"]
    assert home.headers["Server"] is None


def sign_in_as_admin(site: Site) -> Visitor:
    command = f"python manage.py createsuperuser --noinput --username {ADMIN} --email {ADMIN}@localhost"
    made = site.compose.run("web", *command.split(), DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    assert made.returncode == 0, made.stderr
    head = Visitor(site)
    assert head.post("/accounts/login/", origin="https://evil.example.org", login=ADMIN).status == 403
    answer = head.post("/accounts/login/", login=ADMIN, password=PASSWORD)
    assert answer.status == 302
    assert {"sessionid", "csrftoken"} <= head.cookies.keys()
    assert all(cookie["secure"] for cookie in head.cookies.values())
    assert "Sign out" in head.get("/").text
    return head


def make_dataset(site: Site, head: Visitor) -> None:
    spec = json.dumps({**small.SPEC, "splits": {"train": {"scenes": 2}, "test": {"scenes": 1, "withheld": True}}})
    chosen = {"slug": SLUG, "visibility": "public", "licence": "CC BY 4.0", "images": "on"}
    answer = head.post("/datasets/new/", spec=spec, shown=spec, last="json", action="create", **chosen)
    assert (answer.status, answer.headers["Location"]) == (302, f"/datasets/{SLUG}/#making")
    states = "SELECT state, error FROM generation_dataset"
    site.wait_until(lambda: site.rows(states) != [("making", "")], what="the dataset is made")
    assert site.rows(states) == [("complete", "")]


def pages_can_be_browsed(site: Site) -> None:
    visitor = Visitor(site)
    assert f"/datasets/{SLUG}/" in visitor.get("/datasets/").text
    for path in (f"/datasets/{SLUG}/", f"/datasets/{SLUG}/train/", f"/datasets/{SLUG}/train/q/0/?step=1"):
        assert visitor.get(path).status == 200


def address_of(site: Site, *, split: str = "train", small: bool = False) -> str:
    page = Visitor(site).get(f"/datasets/{SLUG}/{split}/" + ("" if small else "q/0/")).text
    found = re.search(rf'"(/datasets/{SLUG}/{split}/scene/0/[^"]*\.{"webp" if small else "png"})"', page)
    assert found is not None
    return found[1]


def stored_name(site: Site, *, split: str = "train", column: str = "image") -> str:
    rows = f"SELECT {column} FROM generation_scene JOIN generation_split ON split_id = generation_split.id"
    [(name,)] = site.rows(f"{rows} WHERE name = '{split}' AND position = 0")
    assert (site.media / name).is_file()
    return str(name)


def pictures_are_sent_by_the_proxy(site: Site) -> None:
    picture, name = address_of(site), stored_name(site)
    small_picture, small_name = address_of(site, small=True), f"{name.removesuffix('.png')}-small.webp"
    Visitor(site).get(small_picture)  # the first request makes the file
    for address, file, kind in ((picture, name, "image/png"), (small_picture, small_name, "image/webp")):
        told = site.past_the_proxy(address)
        assert (told.status, told.body, told.headers["X-Accel-Redirect"]) == (200, b"", f"/{file}")
        sent = Visitor(site).get(address, X_Accel_Redirect="/elsewhere")
        assert (sent.status, sent.body) == (200, (site.media / file).read_bytes())
        kept = ("Cache-Control", "ETag", "Content-Type", "Content-Disposition", "X-Content-Type-Options")
        assert [sent.headers[header] for header in kept] == [told.headers[header] for header in kept]
        assert sent.headers["Content-Type"] == kind
        assert "immutable" in sent.headers["Cache-Control"]
        assert sent.headers["Strict-Transport-Security"]
        assert len(sent.headers.get_all("ETag") or []) == len(sent.headers.get_all("Content-Length") or []) == 1
        for header in ("X-Accel-Redirect", "Last-Modified", "Server"):
            assert sent.headers[header] is None
        assert file not in str(sent.headers)


def ranges_and_unchanged_pictures_are_sent_correctly(site: Site) -> None:
    visitor, address, whole = Visitor(site), address_of(site), (site.media / stored_name(site)).read_bytes()
    version = visitor.get(address).headers["ETag"]

    def get_status_and_body(**headers: str) -> tuple[int, bytes]:
        answer = visitor.get(address, **headers)
        assert answer.headers["ETag"] == version
        return answer.status, answer.body

    assert get_status_and_body(method="HEAD") == (200, b"")
    assert get_status_and_body(Range="bytes=1-10") == (206, whole[1:11])
    assert get_status_and_body(Range="bytes=1-10", If_Range=version) == (206, whole[1:11])
    assert get_status_and_body(Range="bytes=1-10", If_Range='"another"') == (200, whole)
    assert get_status_and_body(If_None_Match=version) == (304, b"")
    assert get_status_and_body(If_None_Match='"another"') == (200, whole)
    assert get_status_and_body(If_Match=version) == (200, whole)
    assert get_status_and_body(If_Modified_Since="Fri, 01 Jan 2100 00:00:00 GMT") == (200, whole)
    assert visitor.get(address, Range="bytes=99999999-").status == 416


def files_have_no_address(site: Site) -> None:
    name = stored_name(site)
    for path in (f"/{name}", f"/media/{name}", f"/static/../media/{name}", f"/static/%2e%2e/{name}", "/media/"):
        assert Visitor(site).get(path, X_Accel_Redirect=f"/{name}").status == 404


def withheld_pictures_are_refused(site: Site, head: Visitor) -> None:
    seen = address_of(site, split="test")
    hidden = seen.replace("/scene/0/", "/scene/0/ids/")
    assert Visitor(site).get(seen).status == 200
    refused = Visitor(site).get(hidden)
    assert (refused.status, refused.headers["X-Accel-Redirect"]) == (404, None)
    assert stored_name(site, split="test", column="ids_image") not in refused.text
    shown = head.get(hidden)  # the owner of the dataset
    whole = (site.media / stored_name(site, split="test", column="ids_image")).read_bytes()
    assert (shown.status, shown.body) == (200, whole)
    assert head.get(seen).headers["Cache-Control"].startswith("public")


def styles_are_cached_forever(site: Site) -> None:
    home = Visitor(site).get("/").text
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', home):
        answer = Visitor(site).get(address)
        assert answer.status == 200
        assert "immutable" in answer.headers["Cache-Control"]


def all_parts_are_healthy(site: Site) -> None:
    def all_heard_of() -> bool:
        answer = Visitor(site).get("/health/")
        parts = json.loads(answer.text)["parts"]
        heard = [parts[name]["seconds"] is not None for name in ("generation", "default", "sweep")]
        return all(heard) and answer.status == 200

    site.wait_until(all_heard_of, what="all background processes are heard of")
    assert site.rows("SELECT count(*) FROM generation_heartbeat WHERE queues <> ''") == [(2,)]


def large_bodies_are_refused(site: Site, head: Visitor) -> None:
    assert UPLOAD_MB > 1
    answer = head.get("/accounts/login/", method="POST", body=b"x" * 1_000_001, Origin=ORIGIN)
    assert answer.status == 413
    assert "larger than the limit of 1 MB" in answer.text
    almost = head.get("/accounts/login/", method="POST", body=b"x" * 999_000, Origin=ORIGIN)
    assert almost.status == 403  # the proxy accepts it, but it is not a form


def without_web_the_proxy_shows_a_page(site: Site) -> None:
    site.compose.kill("web")
    answer = Visitor(site).get("/datasets/")
    assert (answer.status, answer.headers["Content-Type"]) == (503, "text/html; charset=utf-8")
    assert "<h1>The site is restarting</h1>" in answer.text
    assert answer.headers["Retry-After"]
    assert answer.headers["Cache-Control"] == "no-store"
    site.compose.start("web")  # as docker does
    site.wait_until(lambda: Visitor(site).get("/datasets/").status == 200, what="the site is back")
