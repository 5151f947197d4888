"""Works on a site as a process of its own. It imports only what today's program and that of commit 39e7cc8 both have.

`python earlier_site.py STEP ...` runs these steps in order, and prints the status of each page as JSON at its end:

`fill=ARCHIVE` restores an archive and leaves the tables as its release had them; `upgrade`; `restore=ARCHIVE`;
`adopt=ARCHIVE` restores an archive beside the files that are there; `backup=ARCHIVE` writes one.
"""

import json
import os
import sys
from pathlib import Path

import django

sys.path.insert(0, str(Path.cwd()))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402
from django.test import Client  # noqa: E402

from annotations.models import Study  # noqa: E402
from webapp.backups import restoring, schema  # noqa: E402
from webapp.models import User  # noqa: E402

PAGES = ("/", "/datasets/shapes/", "/datasets/shapes/val/", "/datasets/stories/train/", "/datasets/half/",
         "/leaderboards/shapes/test/", "/methods/1/", "/suites/both/", "/submissions/1/", "/admin/")  # fmt: skip


def fill(path: Path) -> None:
    archive = restoring.check_archive(path)
    schema.bring_to(archive.header.migrations, using=restoring.USING)
    with transaction.atomic():
        restoring.Filling(archive, progress=restoring.SILENT).fill()


def statuses() -> dict[str, int]:
    """Return the status of each page for `admin`."""
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="admin"))
    Study.objects.update(owner=User.objects.get(username="admin"))  # only its owner sees a study
    studies = [
        f"/studies/{code}/{page}" for code in Study.objects.values_list("code", flat=True) for page in ("", "results/")
    ]
    return {one: client.get(one).status_code for one in (*PAGES, *studies)}


STEPS = {
    "fill": lambda path: fill(Path(path)),
    "upgrade": lambda _: call_command("upgrade"),
    "restore": lambda path: call_command("restore", path),
    "adopt": lambda path: call_command("restore", path, "--keep-files"),
    "backup": lambda path: call_command("backup", path),
}

if __name__ == "__main__":
    for step in sys.argv[1:]:
        name, _, value = step.partition("=")
        STEPS[name](value)
    sys.stdout.write(f"\n{json.dumps(statuses())}\n")
