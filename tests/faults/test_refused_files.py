"""Files can't be written any more in the middle of a run: it fails saying why, and resuming mends it."""

import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.faults.servers import free_port
from tests.faults.stack import SPEC, Site
from tests.services import S3, missing

Undisturbed = Callable[[dict[str, Any]], str]


class Store:
    """An S3 service that can be stopped; what is in it stays."""

    def __init__(self) -> None:
        self.port = free_port()
        self.start()

    def start(self) -> None:
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=self.port, verbose=False)
        self.server.start()

    def stop(self) -> None:
        self.server.stop()


@pytest.fixture
def store() -> Iterator[Store]:
    running = Store()
    yield running
    running.stop()


@pytest.fixture
def s3(store: Store) -> S3:
    """Give the service that can be stopped in place of the usual one."""
    service = S3(endpoint=f"http://127.0.0.1:{store.port}")
    keys = {"aws_access_key_id": service.key, "aws_secret_access_key": service.secret}
    client = boto3.client("s3", endpoint_url=service.endpoint, region_name="us-east-1", **keys)
    client.create_bucket(Bucket=service.bucket)
    return service


def run_until_refused(site: Site, refuse: Callable[[], None]) -> str:
    """Return why a run failed whose files were refused at a random moment."""
    site.environment["FAULTS_PACE"] = "0.02"
    site.begin()
    site.start("work", kept=False)
    moment = random.SystemRandom().randrange(1, 13)
    site.wait_until(lambda: site.jobs() >= moment, what=f"{moment} jobs")
    site.send("work", signal.SIGSTOP)
    refuse()
    site.send("work", signal.SIGCONT)
    state, error = site.wait_for_end()
    assert state == "failed"
    return error


def check_resumed(site: Site, undisturbed: Undisturbed) -> None:
    site.resume()
    site.start("work", kept=False)
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    site.check_stored_once()


@pytest.mark.full
def test_the_folder_of_files_can_not_be_written(embedded_site: Site, undisturbed: Undisturbed) -> None:
    media = embedded_site.folder / "media"
    away = media.with_name("media.away")

    def replace() -> None:
        media.mkdir(exist_ok=True)
        media.rename(away)
        media.write_text("not a folder")

    error = run_until_refused(embedded_site, replace)
    assert f"{media}" in error
    assert "Make MEDIA_ROOT a folder that can be written, then go on." in error
    assert error.endswith("It was tried 3 times.")
    media.unlink()
    away.rename(media)
    check_resumed(embedded_site, undisturbed)


@pytest.fixture
def mounted(embedded_site: Site) -> Iterator[Path]:
    """Give the site's folder of files, mounted by itself."""
    media = embedded_site.folder / "media"
    media.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "--bind", media, media], capture_output=True, text=True, check=False)
    if done.returncode:
        missing(f"folder that can be mounted ({done.stderr.strip()})", "be root, and allowed to mount")
    yield media
    subprocess.run(["umount", "--lazy", media], check=True)


@pytest.mark.full
def test_the_disk_of_files_becomes_read_only(embedded_site: Site, mounted: Path, undisturbed: Undisturbed) -> None:
    def refuse() -> None:
        while not _remounted(mounted, "ro"):  # not in the middle of a file
            embedded_site.send("work", signal.SIGCONT)
            time.sleep(0.01)
            embedded_site.send("work", signal.SIGSTOP)

    error = run_until_refused(embedded_site, refuse)
    assert "Read-only file system: " in error
    assert "Make MEDIA_ROOT a folder that can be written, then go on." in error
    assert _remounted(mounted, "rw")
    check_resumed(embedded_site, undisturbed)


def _remounted(folder: Path, way: str) -> bool:
    done = subprocess.run(["mount", "-o", f"remount,bind,{way}", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "busy" in done.stderr, done.stderr
    return done.returncode == 0


@pytest.mark.full
def test_the_bucket_can_not_be_reached(services_site: Site, store: Store, undisturbed: Undisturbed) -> None:
    services_site.environment["AWS_MAX_ATTEMPTS"] = "1"
    error = run_until_refused(services_site, store.stop)
    assert "Could not connect to the endpoint URL" in error or "Connection was closed" in error, error
    store.start()
    check_resumed(services_site, undisturbed)
