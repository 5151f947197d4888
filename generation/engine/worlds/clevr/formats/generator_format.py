"""The format `clevr-generator`: files as the original generator of CLEVR writes them, in a folder for each split."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from generation.engine.formats import ExportDataset, ExportSplit, Format, Tick
from generation.engine.formats.common import embed_image, json_list, write_readme
from generation.engine.worlds.clevr.formats import file_dialects
from generation.engine.worlds.clevr.spec import ClevrSpec


class AsGenerated(Format):
    """Writes files for code around the original generator: `type`, answers as JSON values, names of template files."""

    name: ClassVar[str] = "clevr-generator"
    label: ClassVar[str] = "CLEVR, as its generator writes"
    about: ClassVar[str] = (
        "What code around the original generator reads: a folder a split, answers as JSON values, and the number of "
        "each question's template inside its file."
    )

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write a folder for each split."""
        for split in dataset.splits:
            _write_split(dataset, split, folder / split.name, tick=tick)
        write_readme(dataset, folder, layout=list(_layout(dataset)), sums=self.sums)


def _write_split(dataset: ExportDataset, split: ExportSplit, folder: Path, *, tick: Tick) -> None:
    assert isinstance(split.spec, ClevrSpec)
    templates = file_dialects.templates_of(split.spec.families)
    info = file_dialects.info(dataset, split)
    with ExitStack() as stack:
        ask = stack.enter_context(
            json_list(folder / f"{file_dialects.PREFIX}_questions.json", info=info, name="questions")
        )
        show = file_dialects.scenes_file(stack, folder / f"{file_dialects.PREFIX}_scenes.json", info=info)
        for entry in split.items():
            name = file_dialects.image_name(split.name, entry)
            embed_image(folder / "images" / name, entry.image)
            for number in range(len(entry.item.questions)):
                ask(file_dialects.generator_question(split.name, entry, number, name=name, templates=templates))
            if entry.item.scene is not None:
                scene = show(split.name, entry, name)
                (folder / "scenes").mkdir(exist_ok=True)
                path = folder / "scenes" / f"{PurePosixPath(name).stem}.json"
                path.write_text(json.dumps(scene, indent=2), encoding="ascii", newline="\n")
            tick(1)


def _layout(dataset: ExportDataset) -> Iterator[str]:
    yield "A folder a split, and in it:"
    yield ""
    yield f"- `{file_dialects.PREFIX}_questions.json`: questions, with programs and answers where they are open."
    yield f"- `{file_dialects.PREFIX}_scenes.json`, and each scene of it alone in `scenes/`, where scenes may be seen."
    if any(split.images for split in dataset.splits):
        yield "- `images/`."


FORMAT = AsGenerated()
