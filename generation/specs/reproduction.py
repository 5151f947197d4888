"""Reproducing a dataset: the command, what it needs, and whether this program can do it."""

import functools
import io
import json
import zipfile
from collections.abc import Callable, Collection
from typing import NamedTuple

from generation.access import What
from generation.engine import ENGINE_VERSION
from generation.engine.errors import BadSpec
from generation.models import Dataset, Split
from generation.program_version import PROGRAM
from generation.splits.split_recipes import command, read_recipe

A_LONG_TIME_AGO = (1980, 1, 1, 0, 0, 0)  # fixed date in zip files, so that the bytes are reproducible


class Reproduction(NamedTuple):
    """Instructions for reproducing a dataset.

    Attributes
    ----------
    file_name : str
        Name of the download: the spec as JSON, or a zip file with the files that it needs.
    script : str
        Commands to run in the folder of the downloaded file, one on each line.
    release, engine_version : str
        The versions of the program that made the dataset.
    resume : str
        The command that continues a stopped dataset.
    refused : str
        Why this program would make a different dataset, and what to install instead; empty if it would not.
    missing : str
        What only the owner has; empty if nothing is missing.
    """

    file_name: str
    script: str
    resume: str
    release: str
    engine_version: str
    refused: str
    missing: str


def recipe(dataset: Dataset, *, splits: list[Split], has_files: bool, sees_secrets: bool) -> Reproduction:
    """Return the instructions for reproducing a dataset.

    Parameters
    ----------
    dataset : Dataset
    splits : list of Split
        All splits of the dataset.
    has_files : bool
        Whether its spec names files that are stored with it.
    sees_secrets : bool
        Whether the reader may see the secrets of splits with withheld answers.
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
    """Return the digests of a spec's files that contain scenes which the user may not see.

    Parameters
    ----------
    dataset : Dataset
    sees : callable
        Returns whether the user may see a kind of thing in a split.
    """
    closed = [split for split in dataset.splits.own() if not sees(split, What.SCENE)]
    return frozenset().union(*(split.read_spec().scene_files for split in closed))


def spec_as_zip(dataset: Dataset, *, hidden: Collection[str] = ()) -> bytes:
    """Return a zip file of the spec and its files in `files/`, where `generate` finds them by digest.

    Files whose digests are in `hidden` are left out.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("spec.json", A_LONG_TIME_AGO), spec_as_json(dataset))
        for file in dataset.files.exclude(digest__in=hidden).order_by("digest"):
            archive.writestr(zipfile.ZipInfo(f"files/{file.digest}", A_LONG_TIME_AGO), bytes(file.content))
    return buffer.getvalue()


def _refused(dataset: Dataset) -> str:
    """Return why this program would make a different dataset; empty if it would not."""
    if dataset.engine_version == ENGINE_VERSION:
        return _refused_spec(dataset)
    return (
        f"This program is {PROGRAM}; the dataset was made by {dataset.made_by}, so the same spec gives another dataset "
        f"here. Install a release with engine {dataset.engine_version} to make it again."
    )


def _refused_spec(dataset: Dataset) -> str:
    """Return why this program refuses or changes the spec of a dataset of an earlier release; empty if it does not."""
    reason = _difference(dataset.pk, dataset.world, dataset.spec)
    return reason and (
        f"This program is {PROGRAM}; the dataset was made by {dataset.made_by}, and its spec does not give the same "
        f"dataset here: {reason}. Install release {dataset.release} to make it again."
    )


@functools.lru_cache(maxsize=64)
def _difference(number: int, world: str, spec: str) -> str:
    # It needs up to 50 ms, and each view of a dataset asks for it.
    dataset = Dataset(pk=number, world=world, spec=spec)
    try:
        stored = dataset.read_spec()
        again = dataset.get_world().read_spec(dataset.spec_data, files=stored.files)
    except BadSpec as error:
        return str(error).rstrip(".")
    is_same = again.to_json() == stored.to_json()
    return "" if is_same else "families of questions with only one possible answer are left out now"


def _missing(splits: list[Split]) -> str:
    """Return what a reader lacks to reproduce the withheld splits; empty if nothing is missing."""
    if not splits:
        return ""
    names = ", ".join(split.name for split in splits)
    return (
        f"The answers of {names} are withheld. Without the secret, the command makes other scenes there. "
        "The secret is shown here when the answers are opened."
    )
