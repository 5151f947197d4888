"""Creating a dataset with its splits and their secrets, and checking its name."""

import hashlib
import json
import re
import secrets as chance
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from generation import __version__
from generation.engine import ENGINE_VERSION
from generation.engine import worlds as engine
from generation.engine.errors import BadSpec
from generation.engine.seeding import SECRET_BYTES
from generation.engine.spec import NO_FILES, RESERVED_NAMES, BaseSpec
from generation.making.chunk_writer import ROWS
from generation.models import Chunk, Dataset, SpecFile, Split
from generation.models.datasets import SLUG_PATTERN


class SlugTaken(BadSpec):
    """A dataset with this name already exists."""


def create_dataset(
    data: Mapping[str, Any],
    *,
    slug: str,
    files: Mapping[str, bytes] = NO_FILES,
    owner: Any = None,
    visibility: str = Dataset.Visibility.PRIVATE,
    images: bool = True,
    secrets: Mapping[str, str] | None = None,
    is_copy: bool = False,
) -> Dataset:
    """Create and return a dataset with its splits and chunks, without content; `dataset_jobs.plan` creates its jobs.

    Parameters
    ----------
    data : mapping
        The spec as JSON, with files named by digest.
    slug : str
    files : mapping of str to bytes
        The files that the spec names.
    owner : User or None
    visibility : str
    images : bool
        Whether pictures will be drawn.
    secrets : mapping of str to str
        The secrets of splits, as hexadecimal digits. A split with withheld answers that is not named here gets a new
        secret.
    is_copy : bool
        Whether the spec is that of another dataset, so that rules that are newer than that dataset do not apply.

    Raises
    ------
    BadSpec
        If the name, the spec or a secret is not accepted; `SlugTaken` if the name is in use. Then nothing is stored.
    """
    check_slug(slug)
    world = engine.get_world(str(data.get("world")))
    maker = engine.get_maker(world.name)
    spec = world.read_stored_spec(data, files=files) if is_copy else world.read_spec(data, files=files)
    if images:
        spec.check_here()
    keys = _secrets(spec, secrets or {})
    plans = {name: maker.plan(spec, name) for name in spec.splits}
    try:
        with transaction.atomic():
            dataset = Dataset.objects.create(
                slug=slug,
                title=spec.title,
                description=spec.description,
                world=world.name,
                spec=json.dumps(spec.to_json(), ensure_ascii=False),
                engine_version=ENGINE_VERSION,
                release=__version__,
                visibility=visibility,
                owner=owner,
                with_images=images and world.media == engine.Media.IMAGE,
            )
            SpecFile.objects.bulk_create(
                SpecFile(dataset=dataset, digest=digest, content=content) for digest, content in files.items()
            )
            _create_splits(dataset, spec, plans=plans, keys=keys)
    except IntegrityError as error:
        if not Dataset.objects.filter(slug=slug).exists():
            raise
        raise SlugTaken(f"Expected a new name, got {slug!r}, which already exists.", where="slug") from error
    return dataset


def check_slug(slug: str) -> None:
    """Raise `BadSpec` if this cannot be a dataset's name in addresses."""
    if not re.match(SLUG_PATTERN, slug):
        raise BadSpec(
            f"Expected at most 60 small letters, digits and hyphens, the first not a hyphen, got {slug!r}.",
            where="slug",
        )
    if slug in RESERVED_NAMES:
        raise BadSpec(f"Expected another name than {', '.join(sorted(RESERVED_NAMES))}, got {slug!r}.", where="slug")


def check_secrets(given: Mapping[str, str], *, splits: Collection[str]) -> None:
    """Raise `BadSpec` for a secret that is not 32 hexadecimal digits, or that is for an unknown split."""
    for name, text in given.items():
        if name not in splits:
            raise BadSpec(f"Expected one of {', '.join(splits)}, got {name!r}.", where="--secret")
        if not re.fullmatch(r"[0-9a-fA-F]{32}", text):
            raise BadSpec(f"Expected 32 hexadecimal digits, got {len(text)} characters.", where=f"--secret {name}")


def _secrets(spec: BaseSpec, given: Mapping[str, str]) -> dict[str, str]:
    check_secrets(given, splits=spec.splits)
    made = {name: chance.token_hex(SECRET_BYTES) for name, split in spec.splits.items() if split.withheld}
    return made | {name: text.lower() for name, text in given.items()}


def _create_splits(
    dataset: Dataset, spec: BaseSpec, *, plans: Mapping[str, Sequence[engine.Chunk]], keys: Mapping[str, str]
) -> None:
    splits: dict[str, Split] = {}
    for ordinal, (name, split) in enumerate(spec.splits.items()):
        secret = keys.get(name, "")
        splits[name] = Split.objects.create(
            dataset=dataset,
            name=name,
            ordinal=ordinal,
            withheld=split.withheld,
            secret=secret,
            secret_sha256=hashlib.sha256(bytes.fromhex(secret)).hexdigest() if secret else "",
            scenes=sum(chunk.items for chunk in plans[name]),
            questions=sum(chunk.questions for chunk in plans[name]),
        )
        Chunk.objects.bulk_create(
            (
                Chunk(
                    split=splits[name],
                    number=chunk.number,
                    first_scene=chunk.first_item,
                    scenes=chunk.items,
                    first_question=chunk.first_question,
                    questions=chunk.questions,
                )
                for chunk in plans[name]
            ),
            batch_size=ROWS,
        )
    for name, split_row in splits.items():
        reference = spec.reference_of(name)
        if reference is not None:
            Split.objects.filter(pk=split_row.pk).update(reference=splits[reference])
