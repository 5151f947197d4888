"""Exports: writing the rows of a dataset that a user may see into a folder, in a format, with the dataset's charts.

There are two views of a dataset. The public view has everything that all users may see who may open the dataset. The
whole view has everything, and is only for the owner.
"""

import copy
import fcntl
import functools
import hashlib
import io
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from numpy.typing import NDArray
from PIL import Image

from generation.access import What, may_see, may_see_facet
from generation.charts.counts import charts_of, side_by_side
from generation.charts.drawing import DrawingOrder, drawings
from generation.charts.vega import OF_PAPER, spec_of
from generation.engine.errors import BadExport
from generation.engine.formats import ExportItem, ExportSplit, Format, Tick, common
from generation.engine.items import Facet, Needs
from generation.engine.spec import BaseSpec
from generation.engine.worlds import World
from generation.engine.worlds.story_text import story_of
from generation.models import Dataset, Scene, Split
from generation.specs.reproduction import hidden_files
from generation.storage import files, pictures
from generation.storage.items import StoredItem, load_items
from generation.storage.split_index import SplitIndex

EXPORT_WAIT = 60.0  # seconds; this can be long, because no user waits for a page while an export is built


def figures_of(dataset: Dataset, splits: Sequence[Split]) -> dict[str, bytes]:
    """Return the dataset's charts as SVG, by file name. Charts that cannot be drawn now are left out.

    Bars are links to this site if it has a public address.
    """
    charts = charts_of(AnonymousUser(), dataset, side_by_side(splits, None))
    named = [(f"{chart.view.name}.svg", spec_of(chart, colors=OF_PAPER, title=dataset.name)) for chart in charts]
    orders = {name: DrawingOrder(_linked(spec), kind="svg", site=settings.PUBLIC_URL) for name, spec in named if spec}
    drawn = drawings(dataset.slug, list(orders.values()), wait=EXPORT_WAIT)
    return {name: drawing for name, drawing in zip(orders, drawn, strict=True) if drawing is not None}


def _linked(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the specification of a chart, without the links of its bars if this site has no public address."""
    if settings.PUBLIC_URL:
        return spec
    encoding = {name: channel for name, channel in spec["encoding"].items() if name != "href"}
    return {**spec, "encoding": encoding}


SCENES = 100  # scenes that are read at a time


@dataclass(frozen=True)
class Viewer:
    """The view that is exported: the public view (`withheld` is False) or the whole view (`withheld` is True).

    The public view has what a stranger would see if the dataset were public, even while it is private. The whole view
    also has the answers of splits that withhold them.
    """

    withheld: bool = False

    def may_see(self, split: Split, what: What) -> bool:
        return self.withheld or may_see(AnonymousUser(), _published(split), what)

    def may_see_facet(self, split: Split, facet: Facet) -> bool:
        return self.withheld or may_see_facet(AnonymousUser(), _published(split), facet)


def _published(split: Split) -> Split:
    """Return a copy of the split whose dataset is public, has no owner, and is not archived."""
    result, dataset = copy.copy(split), copy.copy(split.dataset)
    dataset.visibility, dataset.owner_id, dataset.archived = Dataset.Visibility.PUBLIC, None, None
    result.dataset = dataset
    return result


class StoredSplit:
    """A complete split for a format; see `generation.engine.formats.ExportSplit`."""

    def __init__(self, split: Split, *, viewer: Viewer, images: bool) -> None:
        self.row, self.viewer = split, viewer
        self.name, self.scenes, self.questions = split.name, split.scenes, split.questions
        self.withheld = split.source.withheld or split.withheld
        self.fingerprint = split.fingerprint
        self.reference = None if split.own_reference is None else split.own_reference.name
        self.parent = split.source.name if split.is_derived else None
        self.imported = split.source.kind == Split.Kind.IMPORTED
        self.secret_sha256 = split.secret_sha256
        self.secret = split.secret if viewer.may_see(split, What.ANSWER) else ""
        self.shows_answers = viewer.may_see(split, What.ANSWER)
        self.shows_programs = viewer.may_see(split, What.PROGRAM)
        self.shows_scenes = viewer.may_see(split, What.SCENE)
        self.shows_ids = viewer.may_see(split, What.IDS_IMAGE)
        self.shows_stories = split.dataset.tells and viewer.may_see(split, What.STORY)
        self.images = images and split.dataset.with_images and viewer.may_see(split, What.IMAGE)

    @property
    def shown(self) -> list[What]:
        """Return the kinds of things that the export shows of this split."""
        kinds = {
            What.QUESTION: True,
            What.IMAGE: self.images,
            What.ANSWER: self.shows_answers,
            What.PROGRAM: self.shows_programs,
            What.SCENE: self.shows_scenes,
            What.IDS_IMAGE: self.shows_ids,
            What.STORY: self.shows_stories,
            What.FACET: any(facet.reveals for facet in self.facets),
        }
        return [what for what, is_shown in kinds.items() if is_shown]

    @property
    def spec(self) -> BaseSpec:
        return self.row.read_spec()

    @functools.cached_property
    def facets(self) -> tuple[Facet, ...]:
        """Return the facets of the split's index that may be shown."""
        indexed = SplitIndex.open(self.row).facets.values()
        found = (
            Facet(
                facet.name, facet.label, facet.kind, facet.values, facet.reveals, Needs.ITEM, facet.labels, facet.bins
            )
            for facet in indexed
        )
        return tuple(facet for facet in found if self.viewer.may_see_facet(self.row, facet))

    def facet_codes(self, first: int, count: int) -> Mapping[str, NDArray[np.int64]]:
        """Return the codes of each shown facet for `count` questions from position `first`; -1 means no value."""
        index, codes = SplitIndex.open(self.row), {}
        for facet in self.facets:
            column = index.facets[facet.name]
            part = np.asarray(column.codes[first : first + count]).astype(np.int64)
            codes[facet.name] = np.where(part == column.none, -1, part)
        return codes

    def items(self) -> Iterator[ExportItem]:
        for first in range(0, self.scenes, SCENES):
            for position, stored in enumerate(load_items(self.row, first, SCENES), first):
                yield self._item(stored, position)

    def _item(self, stored: StoredItem, position: int) -> ExportItem:
        """Return a scene with its position among the exported scenes. A derived split does not have every scene."""
        scene, item = stored.scene, stored.item
        questions = tuple(
            replace(
                question,
                answer=question.answer if self.shows_answers else None,
                program=question.program if self.shows_programs else None,
            )
            for question in item.questions
        )
        shown = replace(
            item,
            scene=item.scene if self.shows_scenes else None,
            view=item.view if self.shows_scenes else None,
            questions=questions,
            replaced=item.replaced if self.shows_scenes else 0,
            number=item.number if self.shows_scenes else None,  # this identifies a scene of a published file
            image_name=item.image_name if self.shows_scenes else "",
        )
        stored_name = scene.image or scene.linked
        has_image = self.images and bool(stored_name)
        return ExportItem(
            position=position,
            item=shown,
            first_question=stored.questions[0].position if stored.questions else 0,
            image_name=f"{self.name}_{position:06d}{Path(stored_name).suffix or '.png'}",
            width=scene.width,
            height=scene.height,
            image=functools.partial(pictures.picture_bytes, scene, self.row.dataset) if has_image else None,
            ids=functools.partial(_ids, scene) if self.shows_ids and scene.ids_image else None,
            story=story_of(self.row.dataset.get_world(), item.scene) if self.shows_stories else None,
        )


def _ids(scene: Scene) -> NDArray[np.uint16]:
    with Image.open(io.BytesIO(files.get(scene.ids_image))) as image:
        return np.asarray(image).astype(np.uint16)


class StoredDataset:
    """A dataset for a format; see `generation.engine.formats.ExportDataset`."""

    def __init__(
        self, dataset: Dataset, *, splits: Sequence[str] = (), viewer: Viewer = Viewer(), images: bool = True
    ) -> None:
        """Choose the complete splits with these names, or all that are not derived.

        Raises `BadExport` if a name is unknown or if no split is complete.
        """
        self.row, self.viewer = dataset, viewer
        self.slug, self.title, self.description = dataset.slug, dataset.name, dataset.description
        self.authors = tuple(line.strip() for line in dataset.authors.splitlines() if line.strip())
        self.licence, self.version, self.citation = dataset.licence, dataset.version, dataset.citation
        self.fingerprint, self.engine_version = dataset.fingerprint, dataset.engine_version
        self.release = dataset.release
        self.stored = [StoredSplit(split, viewer=viewer, images=images) for split in _chosen(dataset, splits)]
        self.splits: list[ExportSplit] = list(self.stored)

    @property
    def scenes(self) -> int:
        return sum(split.scenes for split in self.splits)

    def notes(self) -> list[str]:
        return common.notes(self)

    @property
    def world(self) -> World:
        return self.row.get_world()

    @property
    def completed(self) -> date:
        return (self.row.completed or self.row.created).date()

    @property
    def url(self) -> str:
        return f"{settings.PUBLIC_URL}{self.row.get_absolute_url()}" if settings.PUBLIC_URL else ""

    @property
    def spec_json(self) -> Mapping[str, Any]:
        return self.row.spec_data

    @property
    def files(self) -> Mapping[str, bytes]:
        hidden = hidden_files(self.row, sees=self.viewer.may_see)
        rows = self.row.files.exclude(digest__in=hidden).order_by("digest")
        return {file.digest: bytes(file.content) for file in rows}

    def figures(self) -> Mapping[str, bytes]:
        return figures_of(self.row, [_published(split.row) for split in self.stored])


def _chosen(dataset: Dataset, names: Sequence[str]) -> list[Split]:
    """Return the complete splits with these names; without names, all that are not derived. Raises `BadExport`."""
    complete = [split for split in dataset.splits.for_browse() if split.is_complete]
    known = [split.name for split in complete]
    for name in names:
        if name not in known:
            raise BadExport(
                f"Expected a complete split ({', '.join(known) or 'there is none'}), got {name!r}.",
                where=f"{dataset.slug}, --split",
            )
    if not complete:
        raise BadExport("Expected a dataset with a complete split, got one without.", where=dataset.slug)
    return [split for split in complete if (split.name in names if names else not split.is_derived)]


def write(
    dataset: StoredDataset, output: Path, *, format_: Format, options: Mapping[str, Any], tick: Tick = lambda _: None
) -> None:
    """Write an export to the folder `output`, completely or not at all.

    It is written into a draft folder in the same place, which is then renamed. Drafts of killed processes for the same
    output are deleted.

    If `output` has the same export, with the same bytes, nothing is changed: a process may be killed right after the
    renaming, and is then started again.

    Raises
    ------
    BadExport
        If `output` has anything else, or if the format refuses the export.
    """
    check_output(output, may_have=dataset.fingerprint)
    _drop_abandoned(output)
    draft = output.with_name(files.draft_name(output.name))
    try:
        draft.mkdir(parents=True)
        with _locked(draft) as lock:
            assert lock, draft
            fill(dataset, draft, format_=format_, options=options, tick=tick)
            if not _is_same_export(draft, output, sums=format_.sums, tick=tick):
                check_output(output)
                draft.rename(output)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _is_same_export(draft: Path, output: Path, *, sums: str, tick: Tick) -> bool:
    if not (output / sums).is_file():
        return False
    expected = (draft / sums).read_text(encoding="utf-8")
    return expected == (output / sums).read_text(encoding="utf-8") == sums_of(output, besides=output / sums, tick=tick)


def _drop_abandoned(output: Path) -> None:
    """Delete the drafts of an output that no process writes any more. The lock of a process ends with the process."""
    for draft in files.drafts_of(output):
        with suppress(OSError), _locked(draft) as is_abandoned:  # it may be gone, or belong to another user
            if is_abandoned:
                shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock a folder during the block if no other process has locked it; yield whether this succeeded."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def fill(dataset: StoredDataset, folder: Path, *, format_: Format, options: Mapping[str, Any], tick: Tick) -> None:
    format_.write(dataset, folder, options=options, tick=tick)
    write_sums(folder, folder / format_.sums, tick=tick)


def check_output(output: Path, *, may_have: str = "") -> None:
    """Raise `BadExport` if `output` is not a folder, or has files.

    With the content hash of a dataset as `may_have`, the files may be an export of this dataset. `write` then compares
    them, which takes as long as an export.
    """
    if output.exists() and not output.is_dir():
        raise BadExport("Expected a folder that isn't there yet, got a file.", where=str(output))
    if output.is_dir() and any(output.iterdir()) and not (may_have and may_have in _readme_of(output)):
        raise BadExport(
            "Expected an empty folder or none, or the same export, got one with other files in it. Name another.",
            where=str(output),
        )


def _readme_of(output: Path) -> str:
    try:
        return (output / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def write_sums(folder: Path, sums: Path, *, tick: Tick) -> None:
    text = sums_of(folder, besides=sums, tick=tick)
    sums.parent.mkdir(parents=True, exist_ok=True)
    sums.write_text(text, encoding="utf-8", newline="\n")


def sums_of(folder: Path, *, besides: Path, tick: Tick) -> str:
    """Return the SHA-256 of every file below a folder but one, one line for each file, in the format of `sha256sum`."""
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path != besides):
        tick(0)
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        lines.append(f"{digest}  {path.relative_to(folder).as_posix()}\n")
    return "".join(lines)
