"""The pages that visitors see while the web server restarts behind the shipped proxy."""

import http.client
import time
from pathlib import Path

from tests.faults.caddy import Proxy
from tests.faults.servers import free_port
from tests.faults.stack import Site

RESTARTING, WELL = 503, 200


def test_visitors_of_a_restarting_site_see_this_and_when_to_come_back(embedded_site: Site, tmp_path: Path) -> None:
    site, port = embedded_site, free_port()
    site.environment["PUBLIC_URL"] = f"http://localhost:{port}"
    site.start("web", kept=False)
    site.wait_for_web("/health/web/")
    with Proxy(tmp_path / "caddy", site=site.port, port=port):
        assert ask(port)[0] == WELL
        site.kill("web")
        status, headers, text = ask(port)
        assert status == RESTARTING and "The site is restarting" in text
        assert int(headers["Retry-After"] or 0) > 0 and headers["Cache-Control"] == "no-store"
        site.start("web")
        found = [status]
        end = time.monotonic() + 120
        while found[-1] != WELL and time.monotonic() < end:
            found.append(ask(port)[0])
        assert set(found) == {RESTARTING, WELL}


def test_a_graceful_stop_finishes_a_running_download(embedded_site: Site) -> None:
    site = embedded_site
    site.environment["DJANGO_SETTINGS_MODULE"] = "tests.faults.download_settings"
    site.start("web")
    site.wait_for_web("/health/web/")
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    connection.request("GET", "/download/made/")
    answer = connection.getresponse()
    answer.read(1000)
    site.processes["web"].kept = False
    site.send("web", 15, alone=True)
    assert len(answer.read()) == 500 * 100_000 - 1000
    site.wait_until(lambda: site.processes["web"].has_ended, what="the web server to end")


def ask(port: int) -> tuple[int, http.client.HTTPMessage, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/datasets/", headers={"Host": f"localhost:{port}"})
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read().decode()
