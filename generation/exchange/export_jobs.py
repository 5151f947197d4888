"""Jobs that build exports in the background, one at a time on each machine. The file is kept for some days.

An export is a row that is a job. The name of its file is saved on the row before the file is stored, so that a
cancellation, a deletion or a sweep finds the file. If the process is killed, the lease of the job expires, and the next
attempt deletes the drafts.
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

LONGEST = 86_400.0  # limit in seconds for building an export
DAY = 86_400.0
NOTED = 1.0  # seconds between two updates of the progress

State = Export.State


# Cancelling, retrying and deleting


def cancel(export: Export) -> bool:
    unfinished = Export.objects.unfinished().filter(pk=export.pk)
    return unfinished.update(state=State.CANCELLED, **leases.FREE, finished=Now(), expires=_in_days()) == 1


def retry(export: Export) -> bool:
    """Set an export that failed or was cancelled to waiting again; return whether this call did it."""
    stopped = Export.objects.filter(pk=export.pk, state__in=[State.FAILED, State.CANCELLED])
    if stopped.start_over(done=0, expires=None, finished=None) != 1:
        return False
    RUNNER.wake()
    return True


def delete(export: Export) -> None:
    """Cancel and delete an export. Its file is deleted before its row."""
    cancel(export)
    export.refresh_from_db()
    files.drop(export.file)
    export.delete()


def _in_days() -> Any:
    return from_now(settings.EXPORT_DAYS * DAY)


# Claiming and building


def _claim_next() -> Export | None:
    """Claim and return the next waiting export.

    Returns None if there is none, if an export is being built on this machine, or if the disk is full.
    """
    shortage = files.disk_shortage()
    if shortage:
        Export.objects.claimable().filter(message="").update(message=shortage)
        return None
    return RUNNER.claim_first(RUNNER.rows.claimable())


def _build(export: Export, lease: leases.Lease) -> None:
    with ExportBuild(export, lease) as building:
        building.build()


def _keep_for_days(export: Export, message: str) -> None:
    Export.objects.filter(pk=export.pk).update(expires=_in_days())


def viewer_of(view: str) -> Viewer:
    return Viewer(withheld=view == Export.View.ALL)


class ExportBuild:
    """Builds one export: first a draft folder, then a draft file, then the file in the storage."""

    def __init__(self, export: Export, lease: leases.Lease) -> None:
        self.export, self.lease = export, lease
        self.folder = drafts_folder() / files.draft_name(f"export-{export.pk}")
        self.archive = drafts_folder() / files.draft_name(f"export-{export.pk}")
        self.name = ""
        self.done, self.noted = 0, time.monotonic()

    def __enter__(self) -> "ExportBuild":
        _drop_drafts(self.export)
        files.drop(self.export.file)  # the file of an earlier attempt whose process was killed
        self.folder.mkdir(parents=True)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        files.drop_entry(self.folder)
        files.drop_entry(self.archive)
        if error is not None and self.name:
            files.drop(self.name)

    def build(self) -> None:
        """Write the draft folder, pack it into a zip file, store the file, and mark the export as done."""
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
        if Export.objects.held(self.export).update(**values) != 1:
            raise leases.LeaseLost(f"{self.export} is somebody else's now, or was cancelled.")


def drafts_folder() -> Path:
    """Return the folder of this machine in which exports are built.

    This is the folder of the stored exports if the storage is on this machine.
    """
    home = files.local_path("exports")
    return home if home is not None else Path(settings.VAR_DIR, "cache")


def _drop_drafts(export: Export) -> None:
    for draft in drafts_folder().glob(f".export-{export.pk}.*"):
        files.drop_entry(draft)


# Exports whose days are over


def expire() -> int:
    """Delete finished exports whose days are over; return their number."""
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
        is_single=True,
        turn=0,
        related=("dataset",),
        claim_next=_claim_next,
        on_failure=_keep_for_days,
        chores=expire,
    )
)
