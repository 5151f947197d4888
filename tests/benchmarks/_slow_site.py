"""Measures how long the pages of a site take during slow connections, with and without the shipped proxy."""

import json
import sys
from pathlib import Path

import django

ROUNDS = 5  # of 20 pages each
ADDRESSES = (1, 50)


def main(folder: Path) -> None:
    """Print the seconds of pages as JSON, with and without the proxy.

    They are measured on the quiet site, and for each number of addresses of slow connections.
    """
    from tests.faults.caddy import Proxy
    from tests.faults.conftest import EMBEDDED, SETTINGS
    from tests.faults.servers import free_port
    from tests.faults.stack import Site
    from tests.webapp.commands import environment_of

    var, port = folder / "var", free_port()
    more = {"PUBLIC_URL": f"http://localhost:{port}", "DJANGO_SETTINGS_MODULE": "tests.faults.download_settings"}
    site = Site(EMBEDDED, var, environment_of(var, **{**SETTINGS, **more}))
    try:
        assert site.manage("migrate", "--verbosity", "0").returncode == 0
        site.start("web")
        site.wait_for_web("/health/web/")
        with Proxy(folder / "caddy", site=site.port, port=port):
            json.dump({"the site": _seconds(site.port), "the proxy": _seconds(port)}, sys.stdout)
    finally:
        site.end()


def _seconds(port: int) -> dict[str, list[float]]:
    from tests.faults.slow_sockets import seconds_of_pages, slow_sockets

    def rounds() -> list[float]:
        return [seconds for _ in range(ROUNDS) for seconds in seconds_of_pages(port)]

    seconds_of_pages(port)
    found = {"quiet": rounds()}
    for addresses in ADDRESSES:
        with slow_sockets(port, addresses=addresses):
            found[str(addresses)] = rounds()
    return found


if __name__ == "__main__":
    django.setup()
    main(Path(sys.argv[1]))
