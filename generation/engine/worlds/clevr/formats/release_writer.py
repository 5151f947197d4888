"""The format `clevr`: the files of CLEVR's release, and beside them what the release leaves out."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar

from generation.engine.formats import ExportDataset, ExportItem, ExportSplit, Format, Tick
from generation.engine.formats.common import embed_image, when_needed, write_readme
from generation.engine.formats.sidecar_writer import SUMS, write_about, write_facets
from generation.engine.reading.sidecar_reader import BESIDE
from generation.engine.worlds.clevr.formats import file_dialects

Add = Callable[[Any], None]


def is_released(split: ExportSplit) -> bool:
    """Return whether the release has a split's answers, programs and scenes: not for test, nor for withheld splits."""
    return split.shows_answers and not split.withheld and not split.name.startswith("test")


class ReleasedClevr(Format):
    """Writes the release's folder, and `horsesense/` beside it."""

    name: ClassVar[str] = "clevr"
    label: ClassVar[str] = "CLEVR, as released"
    about: ClassVar[str] = (
        "What code for CLEVR v1.0 reads: questions, scenes and images in the release's folders. What the release "
        "leaves out stands beside it, and importing it gives the same dataset again."
    )
    sums: ClassVar[str] = SUMS

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write the release's folder and the folder beside it."""
        release = file_dialects.release_folder(dataset)
        for split in dataset.splits:
            _write_split(dataset, split, folder, release=release, tick=tick)
            write_facets(split, folder, prefix=file_dialects.PREFIX, tick=tick)
        write_about(dataset, folder, release=release)
        write_readme(dataset, folder, layout=list(_layout(dataset, release)), sums=SUMS)


def _write_split(dataset: ExportDataset, split: ExportSplit, folder: Path, *, release: str, tick: Tick) -> None:
    with _files(dataset, split, folder, release=release) as write:
        for entry in split.items():
            name = file_dialects.image_name(split.name, entry)
            embed_image(folder / release / "images" / split.name / name, entry.image)
            write(entry, name)
            tick(1)


@contextmanager
def _files(
    dataset: ExportDataset, split: ExportSplit, folder: Path, *, release: str
) -> Iterator[Callable[[ExportItem, str], None]]:
    """Provide a function that writes a scene, its view and its questions into their files."""
    released, beside = is_released(split), folder / BESIDE
    with ExitStack() as stack:

        def opened(place: Path, kind: str) -> Add:
            path = place / kind / f"{file_dialects.PREFIX}_{split.name}_{kind}.json"
            return when_needed(stack, path, info=file_dialects.info(dataset, split), name=kind)

        ask = opened(folder / release, "questions")
        tell = opened(beside, "questions") if not released and (split.shows_answers or split.shows_programs) else None
        place = (
            (folder / release if released else beside) / "scenes" / f"{file_dialects.PREFIX}_{split.name}_scenes.json"
        )
        show = file_dialects.scenes_file(stack, place, info=file_dialects.info(dataset, split))
        look = opened(beside, "views")

        def write(entry: ExportItem, name: str) -> None:
            for number in range(len(entry.item.questions)):
                form = file_dialects.question if released else file_dialects.bare_question
                ask(form(split.name, entry, number, name=name))
                if tell is not None:
                    tell(file_dialects.question(split.name, entry, number, name=name))
            if entry.item.scene is not None:
                show(split.name, entry, name)
            if entry.item.view is not None:
                look(
                    {"image_index": file_dialects.number_of(entry), "image_filename": name, **entry.item.view.to_json()}
                )

        yield write


def _layout(dataset: ExportDataset, release: str) -> Iterator[str]:
    told = [split.name for split in dataset.splits if is_released(split)]
    more = [split.name for split in dataset.splits if not is_released(split) and split.shows_scenes]
    yield f"- `{release}/questions/`: a file a split."
    if told:
        yield f"- `{release}/scenes/`: scenes of {', '.join(told)}."
    if any(split.images for split in dataset.splits):
        yield f"- `{release}/images/`: a folder a split."
    yield f"- `{BESIDE}/dataset.json`, `spec.json`: what the dataset is and what it was made from."
    yield f"- `{BESIDE}/views/`: cameras and lights. `{BESIDE}/facets/`: what questions are broken down by."
    if more:
        yield f"- `{BESIDE}/questions/`, `{BESIDE}/scenes/`: answers, programs and scenes of {', '.join(more)}."


FORMAT = ReleasedClevr()
