"""Files cannot be written for a while in the middle of a run: it waits, reports the reason, and goes on by itself."""

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

from tests.faults.servers import Bucket, free_port
from tests.faults.stack import SPEC, Site
from tests.services import S3, missing

Undisturbed = Callable[[dict[str, Any]], str]


class Store:
    """An S3 service that can be stopped; its files stay."""

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
    """Give an S3 service that can be stopped, instead of the usual one."""
    service = S3(endpoint=f"http://127.0.0.1:{store.port}")
    keys = {"aws_access_key_id": service.key, "aws_secret_access_key": service.secret}
    client = boto3.client("s3", endpoint_url=service.endpoint, region_name="us-east-1", **keys)
    client.create_bucket(Bucket=service.bucket)
    return service


WAITING = "SELECT message, attempts, crashes FROM generation_job WHERE state = %s AND waits > 1"


def check_waits(site: Site, refuse: Callable[[], None], allow: Callable[[], None], *, undisturbed: Undisturbed) -> str:
    """Refuse files from a random moment on, check that a job waits, allow files again, and check the complete dataset.

    Returns the message of the waiting job.
    """
    site.environment.update(FAULTS_PACE="0.02", FAULTS_WAIT="0.3", FAULTS_HEARTBEAT="0.5")
    site.begin()
    site.start("work", kept=False)
    moment = random.SystemRandom().randrange(1, 13)
    site.wait_until(lambda: site.jobs() >= moment, what=f"{moment} jobs")
    site.send("work", signal.SIGSTOP)
    refuse()
    site.send("work", signal.SIGCONT)
    site.wait_until(lambda: site.ask(WAITING, "waiting"), what="a job that was refused twice and says so")
    [(why, attempts, crashes), *_] = site.ask(WAITING, "waiting")
    assert site.state() == ("making", "")
    allow()
    assert (attempts, crashes) == (0, 0)
    assert site.wait_for_end() == ("complete", "")
    assert site.fingerprint() == undisturbed(SPEC)
    assert site.ask("SELECT max(attempts), max(crashes) FROM generation_job") == [(1, 0)]
    site.check_stored_once()
    return str(why)


@pytest.fixture
def folder_site(site: Site) -> Site:
    """Give a site, not started, with files in a folder, once for each database."""
    if site.bucket is not None:
        for name in site.bucket.environment:
            del site.environment[name]
        site.bucket = None
    (site.folder / "media").mkdir(parents=True, exist_ok=True)
    return site


@pytest.fixture
def bucket_site(site: Site, s3: S3) -> Site:
    """Give a site, not started, with files in a bucket, once for each database."""
    if site.bucket is None:
        site.bucket = Bucket(s3)
        site.environment.update(site.bucket.environment)
    site.environment["AWS_MAX_ATTEMPTS"] = "1"
    return site


@pytest.mark.full
def test_a_run_waits_while_the_folder_of_files_cannot_be_written(folder_site: Site, undisturbed: Undisturbed) -> None:
    media = folder_site.folder / "media"
    away = media.with_name("media.away")

    def replace() -> None:
        media.rename(away)
        media.write_text("not a folder")

    def restore() -> None:
        media.unlink()
        away.rename(media)

    why = check_waits(folder_site, replace, restore, undisturbed=undisturbed)
    assert why.startswith("Waiting for the store of files: ") and f"{media}" in why
    assert "Make MEDIA_ROOT a folder that can be written" in why


@pytest.fixture
def mounted(folder_site: Site) -> Iterator[Path]:
    """Give the site's folder of files as a separate mount."""
    media = folder_site.folder / "media"
    done = subprocess.run(["mount", "--bind", media, media], capture_output=True, text=True, check=False)
    if done.returncode:
        missing(f"folder that can be mounted ({done.stderr.strip()})", "be root, and allowed to mount")
    yield media
    subprocess.run(["umount", "--lazy", media], check=True)


@pytest.mark.full
def test_a_run_waits_while_the_disk_of_files_is_read_only(
    folder_site: Site, mounted: Path, undisturbed: Undisturbed
) -> None:
    def refuse() -> None:
        while not _remount(mounted, "ro"):  # fails while a file is open for writing
            folder_site.send("work", signal.SIGCONT)
            time.sleep(0.01)
            folder_site.send("work", signal.SIGSTOP)

    def allow() -> None:
        assert _remount(mounted, "rw")

    why = check_waits(folder_site, refuse, allow, undisturbed=undisturbed)
    assert "Read-only file system: " in why
    assert "Make MEDIA_ROOT a folder that can be written" in why


def _remount(folder: Path, way: str) -> bool:
    done = subprocess.run(["mount", "-o", f"remount,bind,{way}", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "busy" in done.stderr, done.stderr
    return done.returncode == 0


@pytest.mark.full
def test_a_run_waits_while_the_bucket_cannot_be_reached(
    bucket_site: Site, store: Store, undisturbed: Undisturbed
) -> None:
    why = check_waits(bucket_site, store.stop, store.start, undisturbed=undisturbed)
    assert "Could not connect to the endpoint URL" in why or "Connection was closed" in why, why


@pytest.mark.full
def test_a_run_waits_while_the_bucket_is_missing(bucket_site: Site, undisturbed: Undisturbed) -> None:
    bucket = bucket_site.bucket
    assert bucket is not None
    kept: dict[str, bytes] = {}

    def remove() -> None:
        for name in bucket.names():
            kept[name] = bucket.client.get_object(Bucket=bucket.name, Key=name)["Body"].read()
            bucket.client.delete_object(Bucket=bucket.name, Key=name)
        bucket.client.delete_bucket(Bucket=bucket.name)

    def restore() -> None:
        bucket.client.create_bucket(Bucket=bucket.name)
        for name, content in kept.items():
            bucket.client.put_object(Bucket=bucket.name, Key=name, Body=content)

    why = check_waits(bucket_site, remove, restore, undisturbed=undisturbed)
    assert "The specified bucket does not exist" in why, why
