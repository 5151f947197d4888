"""Exports in the background: asked for on a page, built by one process at a time, kept as one file for some days.

An export is a row that is a job. Its file lies in the storage under a name that is noted before it is stored, so that
a cancellation, a deletion or a sweep finds it. A process that is killed leaves a row whose lease ends, and drafts
that the next attempt clears.
"""

import json
import secrets
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from generation.engine import formats
from generation.exchange import exports
from generation.exchange.exports import StoredDataset, Viewer
from generation.making.deletion import exports_folder
from generation.models import Export, from_now
from generation.queue import leases, runner
from generation.storage import files

LONGEST = 86_400.0  # seconds that building one may take
DAY = 86_400.0
NOTED = 1.0  # seconds between two notes of how far it is

State = Export.State


# What becomes of it


def cancel(export: Export) -> bool:
    unfinished = Export.objects.unfinished().filter(pk=export.pk)
    return unfinished.update(state=State.CANCELLED, **leases.FREE, finished=Now(), expires=_in_days()) == 1


def retry(export: Export) -> bool:
    """Return whether this call lets an export that failed or was cancelled be built again."""
    stopped = Export.objects.filter(pk=export.pk, state__in=[State.FAILED, State.CANCELLED])
    if stopped.start_over(done=0, expires=None, finished=None) != 1:
        return False
    RUNNER.wake()
    return True


def delete(export: Export) -> None:
    """Delete an export with its file, the file first."""
    cancel(export)
    export.refresh_from_db()
    files.drop(export.file)
    export.delete()


def _in_days() -> Any:
    return from_now(settings.EXPORT_DAYS * DAY)


# Who builds it


def _claim_next() -> Export | None:
    """Return an export that is now ours; None where none waits, one is being built here, or the disk is full."""
    here = Export.objects.filter(state=State.RUNNING, lease__gte=Now(), worker__startswith=f"{leases.host_name()}:")
    shortage = files.disk_shortage()
    if shortage:
        Export.objects.claimable().filter(message="").update(message=shortage)
    if shortage or here.exists():
        return None
    return RUNNER.claim_first(RUNNER.rows.claimable())


def _build(export: Export, lease: leases.Lease) -> None:
    with Building(export, lease) as building:
        building.build()


def _keep_for_days(export: Export, message: str) -> None:
    Export.objects.filter(pk=export.pk).update(expires=_in_days())


def viewer_of(view: str) -> Viewer:
    return Viewer(withheld=view == Export.View.ALL)


class Building:
    """The building of one export: a draft folder, a draft file, and at last the file in the storage."""

    def __init__(self, export: Export, lease: leases.Lease) -> None:
        self.export, self.lease = export, lease
        self.folder = drafts_folder() / files.draft_name(f"export-{export.pk}")
        self.archive = drafts_folder() / files.draft_name(f"export-{export.pk}")
        self.name = ""
        self.done, self.noted = 0, time.monotonic()

    def __enter__(self) -> "Building":
        _drop_drafts(self.export)
        files.drop(self.export.file)  # of an attempt that was killed before it could say so
        self.folder.mkdir(parents=True)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        files.drop_entry(self.folder)
        files.drop_entry(self.archive)
        if error is not None and self.name:
            files.drop(self.name)

    def build(self) -> None:
        """Write the folder, pack it, store the file, and say so on the row."""
        export = self.export
        dataset = StoredDataset(
            export.dataset, splits=export.split_names, viewer=viewer_of(export.view), images=export.images
        )
        shown = {split.name: list(split.shown) for split in dataset.stored}
        format_ = formats.find(export.format, dataset.world)
        exports.fill(dataset, self.folder, format_=format_, options=export.option_values, tick=self._tick)
        top = export.file_name.removesuffix(".zip")
        size = files.write_zip(self.folder, self.archive, top=top, check=self.lease.check)
        files.drop_entry(self.folder)
        self.name = f"{exports_folder(export.dataset)}/{export.pk}-{secrets.token_hex(8)}.zip"
        self._note(file=self.name)
        files.adopt(self.name, self.archive)
        with transaction.atomic():
            made = {"size": size, "shown": json.dumps(shown), "done": self.done, "expires": _in_days()}
            self._note(**made)
            leases.finish(export)

    def _tick(self, scenes: int) -> None:
        self.lease.check()
        self.done += scenes
        if time.monotonic() - self.noted >= NOTED:
            self.noted = time.monotonic()
            self._note(done=self.done)

    def _note(self, **values: Any) -> None:
        """Write something on the row; raise `LeaseLost` where it isn't ours any more, as when it was cancelled."""
        if Export.objects.held(self.export).update(**values) != 1:
            raise leases.LeaseLost(f"{self.export} is somebody else's now, or was cancelled.")


def drafts_folder() -> Path:
    """Return the folder of this machine in which exports are built: beside where their files go, if that is here."""
    home = files.local_path("exports")
    return home if home is not None else Path(settings.VAR_DIR, "cache")


def _drop_drafts(export: Export) -> None:
    for draft in drafts_folder().glob(f".export-{export.pk}.*"):
        files.drop_entry(draft)


# What was left lying


def expire() -> int:
    """Return how many exports were thrown away because their days are over."""
    outdated = list(Export.objects.outdated().exclude(state__in=[State.WAITING, State.RUNNING]))
    for export in outdated:
        files.drop(export.file)
        Export.objects.filter(pk=export.pk).delete()
    return len(outdated)


RUNNER = runner.register(
    runner.Runner(
        name="exports",
        model=Export,
        perform=_build,
        seconds=lambda export: LONGEST,
        task="generation.tasks.export",
        turn=0,
        related=("dataset",),
        claim_next=_claim_next,
        on_failure=_keep_for_days,
        chores=expire,
    )
)
