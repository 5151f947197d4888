"""Making a dataset again: the command, what it needs, and whether this program can."""

import io
import json
import zipfile
from collections.abc import Callable, Collection
from typing import NamedTuple

from generation.access import What
from generation.engine import ENGINE_VERSION
from generation.models import Dataset, Split
from generation.splits.recipes import command, read_recipe

A_LONG_TIME_AGO = (1980, 1, 1, 0, 0, 0)  # a zip file's date; one date gives one file


class Reproduction(NamedTuple):
    """How a dataset is made again.

    Attributes
    ----------
    file_name : str
        Of the download: the spec as JSON, or zipped with the files that it needs.
    script : str
        Commands to be typed beside the downloaded file, a line each.
    release, engine_version : str
        Of the program that made it.
    resume : str
        The command that goes on with a dataset that was stopped.
    refused : str
        Why this program would make something else, and what to install instead; empty when it would not.
    missing : str
        What only the owner has; empty when nothing is missing.
    """

    file_name: str
    script: str
    resume: str
    release: str
    engine_version: str
    refused: str
    missing: str


def recipe(dataset: Dataset, *, splits: list[Split], has_files: bool, sees_secrets: bool) -> Reproduction:
    """Return how a dataset is made again.

    Parameters
    ----------
    dataset : Dataset
    splits : list of Split
        All of its splits.
    has_files : bool
        Whether its spec names files that are kept with it.
    sees_secrets : bool
        Whether the reader may know the secrets of splits whose answers are still withheld.
    """
    stem = dataset.slug
    unzip = [f"unzip {stem}-spec.zip -d {stem}-spec"] if has_files else []
    spec = f"{stem}-spec/spec.json" if has_files else f"{stem}.json"
    derived = [split for split in splits if split.is_derived and split.is_complete]
    known = [split for split in splits if split.secret and (sees_secrets or not split.withheld)]
    secrets = "".join(f" --secret {split.name}={split.secret}" for split in known)
    images = "" if dataset.with_images else " --no-images"
    return Reproduction(
        file_name=f"{stem}-spec.zip" if has_files else f"{stem}.json",
        script="\n".join(
            [
                *unzip,
                f"python manage.py generate {spec} --name {stem}-again{secrets}{images}",
                *(command(read_recipe(one.recipe), dataset=f"{stem}-again", name=one.name) for one in derived),
            ]
        ),
        resume="\n".join([*unzip, f"python manage.py generate {spec} --name {stem}{images} --resume"]),
        release=dataset.release,
        engine_version=dataset.engine_version,
        refused=_refused(dataset),
        missing=_missing([split for split in splits if split.secret and split not in known]),
    )


def spec_as_json(dataset: Dataset) -> str:
    return json.dumps(dataset.spec_data, indent=2, ensure_ascii=False) + "\n"


def hidden_files(dataset: Dataset, *, sees: Callable[[Split, What], bool]) -> frozenset[str]:
    """Return the digests of the files of a spec that have scenes which somebody may not see.

    Parameters
    ----------
    dataset : Dataset
    sees : callable
        Says whether they may see this kind of thing in a split.
    """
    closed = [split for split in dataset.splits.own() if not sees(split, What.SCENE)]
    return frozenset().union(*(split.read_spec().scene_files for split in closed))


def spec_as_zip(dataset: Dataset, *, hidden: Collection[str] = ()) -> bytes:
    """Return the spec and the files it needs, zipped: `generate` finds them by their digests in `files/`.

    Files with `hidden` digests are left out.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("spec.json", A_LONG_TIME_AGO), spec_as_json(dataset))
        for file in dataset.files.exclude(digest__in=hidden).order_by("digest"):
            archive.writestr(zipfile.ZipInfo(f"files/{file.digest}", A_LONG_TIME_AGO), bytes(file.content))
    return buffer.getvalue()


def _refused(dataset: Dataset) -> str:
    """Return why this program would not make the same dataset; empty when it would."""
    if dataset.engine_version == ENGINE_VERSION:
        return ""
    return (
        f"This program has engine {ENGINE_VERSION}; the dataset was made by engine {dataset.engine_version}, "
        f"and the same spec gives something else here. Install release {dataset.release} to make it again."
    )


def _missing(splits: list[Split]) -> str:
    """Return what stands between a reader and the same withheld splits."""
    if not splits:
        return ""
    names = ", ".join(split.name for split in splits)
    return (
        f"Without the secret of {names} the command gives other scenes there: its answers are withheld. "
        "When they are opened, the secret is shown here."
    )
