"""The formats `trl` and `verl`: Parquet files with the columns that these two libraries of reinforcement learning read.

A row is a question with its picture, its answer and the form of its answer, from which the reward functions of
`generation.engine.environment` score replies.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from generation.engine.errors import BadExport
from generation.engine.formats import ExportDataset, ExportItem, Format, Tick
from generation.engine.formats.common import write_readme
from generation.engine.formats.huggingface.parquet import (
    IMAGE,
    IMAGES,
    NUMBER,
    OF_KIND,
    QUESTIONS,
    TEXT,
    TEXTS,
    Shards,
    arrow,
    schema_of,
)
from generation.engine.formats.huggingface.rows import PROMPT, Row, Rows, facet_columns, plain_names
from generation.engine.formats.lmms_eval import check_pictures
from generation.engine.items import FacetKind, Media

MESSAGES = [{"role": TEXT, "content": TEXT}]
SYNONYMS = [{"word": TEXT, "answer": TEXT}]
FORM: Mapping[str, Any] = {"kind": TEXT, "choices": TEXTS, "parts": TEXTS, "empty": TEXT, "synonyms": SYNONYMS}
PLACEHOLDER = "<image>"  # stands for the picture in verl's prompts
PLACEHOLDERS = (PLACEHOLDER, "<video>")  # verl reads both in the prompts of a dataset with pictures
ABILITIES = {Media.IMAGE: "visual-question-answering", Media.STORY: "reading", Media.NONE: "reasoning"}


class RewardedPrompts(Format):
    """Writes a folder of Parquet files for each split. A library's format says which columns they have."""

    name: ClassVar[str]

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write the files of every split, and how to use them."""
        arrow()
        check_answers(dataset, name=self.name)
        check_pictures(dataset)
        is_pictured = dataset.world.media is Media.IMAGE
        columns = facet_columns(dataset.splits)
        schema = schema_of(self.features(columns, is_pictured=is_pictured))
        names = plain_names([split.name for split in dataset.splits])
        for split in dataset.splits:
            rows = Rows(split, dataset.world, columns)
            size = IMAGES if is_pictured else QUESTIONS
            with Shards(folder / "data" / names[split.name], schema, rows=size) as shards:
                for item in split.items():
                    self._write_item(dataset, rows, item, shards)
                    tick(1)
        write_readme(dataset, folder, layout=self.layout(list(names.values())), sums=self.sums)

    def _write_item(self, dataset: ExportDataset, rows: Rows, item: ExportItem, shards: Shards) -> None:
        content = None if item.image is None else item.image()
        picture = None if content is None else {"bytes": content, "path": item.image_name}
        for row, asked in zip(rows.of(item), item.item.questions, strict=True):
            form = dataset.world.reply_form(rows.split.spec, asked).to_json()
            facets = {name: row[name] for name in rows.columns}
            shards.add(self.row(dataset, row, picture=picture, form=form, facets=facets), weight=len(content or b""))

    @abstractmethod
    def features(self, columns: Mapping[str, FacetKind], *, is_pictured: bool) -> dict[str, Any]:
        """Return the features of the files; `columns` are the facets."""

    @abstractmethod
    def row(self, dataset: ExportDataset, row: Row, *, picture: Row | None, form: Row, facets: Row) -> Row:
        """Return a row of the files for a question."""

    @abstractmethod
    def layout(self, names: Sequence[str]) -> list[str]:
        """Return the lines of the README about the files. `names` are the folders of the splits."""


def check_answers(dataset: ExportDataset, *, name: str) -> None:
    """Raise `BadExport` if the answers of a split may not be exported, because nothing could be rewarded."""
    withheld = [split.name for split in dataset.splits if not split.shows_answers]
    if withheld:
        raise BadExport(
            f"Expected splits with open answers, got {', '.join(withheld)}, whose answers are withheld: the format "
            f"{name} is for training, which needs the answers. Export only splits with open answers.",
            where=dataset.slug,
        )


def _facets(columns: Mapping[str, FacetKind]) -> dict[str, Any]:
    """Return the column of all facets; none if there are no facets, because Parquet has no empty structures."""
    return {"facets": {name: OF_KIND[kind] for name, kind in columns.items()}} if columns else {}


class Trl(RewardedPrompts):
    """Writes the columns of TRL's GRPO trainer."""

    name = "trl"
    label: ClassVar[str] = "TRL (GRPO)"
    about: ClassVar[str] = "prompts, pictures and solutions as Parquet files, to train models with TRL"

    def features(self, columns: Mapping[str, FacetKind], *, is_pictured: bool) -> dict[str, Any]:
        """Return the features: `prompt`, `image`, `solution` and what the reward needs."""
        return {
            "prompt": MESSAGES,
            **({"image": IMAGE} if is_pictured else {}),
            "solution": TEXT,
            "answer_form": FORM,
            "question_id": NUMBER,
            "image_index": NUMBER,
            **_facets(columns),
        }

    def row(self, dataset: ExportDataset, row: Row, *, picture: Row | None, form: Row, facets: Row) -> Row:
        """Return a question as a prompt of chat messages with its solution."""
        return {
            "prompt": [{"role": "user", "content": row[PROMPT]}],
            **({} if picture is None else {"image": picture}),
            "solution": row["answer"],
            "answer_form": form,
            "question_id": row["question_id"],
            "image_index": row["image_index"],
            **({"facets": facets} if facets else {}),
        }

    def layout(self, names: Sequence[str]) -> list[str]:
        """Return how a script of TRL loads the files."""
        return [
            "A folder of Parquet files for each split in `data/`. A script of TRL loads them so:",
            "",
            "    from datasets import load_dataset",
            "    from generation.engine.environment import answer_reward",
            "",
            f'    data = load_dataset("parquet", data_files="data/{names[0]}/*.parquet", split="train")',
            "    trainer = GRPOTrainer(model=..., reward_funcs=answer_reward, train_dataset=data)",
        ]


class Verl(RewardedPrompts):
    """Writes the columns of verl's datasets for reinforcement learning."""

    name = "verl"
    label: ClassVar[str] = "verl"
    about: ClassVar[str] = "prompts, pictures and rewards by rule as Parquet files, to train models with verl"

    def features(self, columns: Mapping[str, FacetKind], *, is_pictured: bool) -> dict[str, Any]:
        """Return the features in verl's order."""
        return {
            "data_source": TEXT,
            "prompt": MESSAGES,
            **({"images": [IMAGE]} if is_pictured else {}),
            "ability": TEXT,
            "reward_model": {"style": TEXT, "ground_truth": TEXT},
            "extra_info": {
                **dict.fromkeys(("split", "answer", "question"), TEXT),
                **dict.fromkeys(("index", "image_index"), NUMBER),
                "answer_form": FORM,
                **_facets(columns),
            },
        }

    def row(self, dataset: ExportDataset, row: Row, *, picture: Row | None, form: Row, facets: Row) -> Row:
        """Return a question with its rule of reward; the prompt begins with a mark for its picture."""
        said = row[PROMPT]
        for mark in PLACEHOLDERS:
            if mark in said:
                raise BadExport(
                    f"Expected prompts without {mark}, which verl reads as a picture or a video, got one.",
                    where=f"{row['split']}, question {row['question_id']}",
                )
        return {
            "data_source": f"horsesense/{dataset.slug}",
            "prompt": [{"role": "user", "content": said if picture is None else f"{PLACEHOLDER}{said}"}],
            **({} if picture is None else {"images": [picture]}),
            "ability": ABILITIES[dataset.world.media],
            "reward_model": {"style": "rule", "ground_truth": row["answer"]},
            "extra_info": {
                "split": row["split"],
                "answer": row["answer"],
                "question": row["question"],
                "index": row["question_id"],
                "image_index": row["image_index"],
                "answer_form": form,
                **({"facets": facets} if facets else {}),
            },
        }

    def layout(self, names: Sequence[str]) -> list[str]:
        """Return how verl is started with the files."""
        return [
            "A folder of Parquet files for each split in `data/`. The reward is a function of a module of Horsesense,",
            "whose path the first line finds. Start verl in this folder with these settings beside yours, such as",
            "`data.val_files` and those of the model:",
            "",
            """    REWARDS=$(python -c 'from generation.engine.environment import rewards; print(rewards.__file__)')""",
            "    python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.image_key=images \\",
            f"""        data.train_files="[$(echo data/{names[0]}/*.parquet | tr ' ' ,)]" \\""",
            '        custom_reward_function.path="$REWARDS" custom_reward_function.name=compute_score',
        ]


TRL, VERL = Trl(), Verl()
