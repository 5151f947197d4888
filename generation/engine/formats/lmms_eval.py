"""The format `lmms-eval`: a folder of lmms-eval tasks, one for each split, with accuracy broken down by facets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from generation.engine.errors import BadExport
from generation.engine.formats import ExportDataset, ExportSplit, Format, Tick, lmms_eval_task
from generation.engine.formats.common import embed_image, write_json, write_readme
from generation.engine.formats.huggingface.card import yaml_text
from generation.engine.formats.huggingface.parquet import QUESTIONS, Shards, arrow, question_features, schema_of
from generation.engine.formats.huggingface.rows import NOT_A_NAME, Rows, column_of, facet_columns, first_of, plain_names
from generation.engine.items import Media

MOST_TOKENS = 64  # limit for a model's answer: an answer is one word, and a short sentence around it fits too


class LmmsEval(Format):
    """Writes tasks of lmms-eval with their data."""

    name: ClassVar[str] = "lmms-eval"
    label: ClassVar[str] = "lmms-eval tasks"
    about: ClassVar[str] = "tasks, questions and pictures, to evaluate vision-language models with lmms-eval"

    def write(self, dataset: ExportDataset, folder: Path, *, options: Mapping[str, Any], tick: Tick) -> None:
        """Write a task for each split, the files that tasks share, and how to run them."""
        arrow()
        check_pictures(dataset)
        columns = facet_columns(dataset.splits)
        schema = schema_of(question_features(columns, embed=False, first=first_of(dataset.world)))
        names = plain_names([split.name for split in dataset.splits])
        for split in dataset.splits:
            rows = Rows(split, dataset.world, columns)
            with Shards(folder / "data" / names[split.name], schema, rows=QUESTIONS) as shards:
                for item in split.items():
                    for row in rows.of(item):
                        shards.add(row)
                    embed_image(folder / "images" / split.name / item.image_name, item.image)
                    tick(1)
            path = folder / f"{task_name(dataset, names[split.name])}.yaml"
            _write(path, task_yaml(dataset, split, plain=names[split.name]))
        write_json(folder / "breakdown.json", breakdown(dataset))
        _write(folder / "utils.py", Path(lmms_eval_task.__file__).read_text(encoding="utf-8"))
        if len(names) > 1:
            _write(folder / f"{_base(dataset)}.yaml", group_yaml(dataset, names))
        write_readme(dataset, folder, layout=_layout(dataset, names), sums=self.sums)


def check_pictures(dataset: ExportDataset) -> None:
    """Raise `BadExport` if the pictures of a split are not exported, because models could not be evaluated."""
    without = [split.name for split in dataset.splits if not split.images]
    if dataset.world.media is Media.IMAGE and without:
        raise BadExport(
            f"Expected the pictures of every split, got none of {', '.join(without)}: this format evaluates models on "
            "them. Export with images, or only splits that have some.",
            where=dataset.slug,
        )


def breakdown(dataset: ExportDataset) -> dict[str, Any]:
    """Return how accuracy is broken down, and other words for answers.

    Accuracy is broken down by every facet; the columns of the leaderboards are separate metrics.
    """
    facets = {column_of(facet.name): facet.label for split in dataset.splits for facet in split.facets}
    synonyms = {word: answer for split in dataset.splits for word, answer in dataset.world.synonyms(split.spec).items()}
    columns = list(_columns(dataset, *dataset.splits))
    return {"dataset": dataset.slug, "facets": facets, "columns": columns, "synonyms": synonyms}


def _columns(dataset: ExportDataset, *splits: ExportSplit) -> list[dict[str, str]]:
    """Return the metrics beside accuracy: one for each column of the world's leaderboards."""
    found: dict[str, dict[str, str]] = {}
    for split in splits:
        shown = {facet.name for facet in split.facets}
        for label, facet, value, _ in dataset.world.columns(split.spec):
            if facet in shown:
                metric = f"accuracy_{NOT_A_NAME.sub('_', f'{facet}_{value}')}"
                found[metric] = {"metric": metric, "facet": column_of(facet), "value": value, "label": label}
    return list(found.values())


def task_yaml(dataset: ExportDataset, split: ExportSplit, *, plain: str) -> str:
    """Return the task file of a split; `plain` is its name in `datasets`. Without answers it collects predictions."""
    said = [
        "dataset_path: parquet",
        "dataset_kwargs:",
        "  data_files:",
        f"    {plain}: {yaml_text(f'data/{plain}/*.parquet')}",
        f"task: {yaml_text(task_name(dataset, plain))}",
        f"test_split: {plain}",
        "output_type: generate_until",
        "doc_to_visual: !function utils.doc_to_visual",
        "doc_to_text: !function utils.doc_to_text",
        "doc_to_target: !function utils.doc_to_target",
        "generation_kwargs:",
        f"  max_new_tokens: {MOST_TOKENS}",
        "  temperature: 0",
        "  top_p: 1.0",
        "  num_beams: 1",
        "  do_sample: false",
        "process_results: !function utils.process_results",
        "metric_list:",
        *_metrics(dataset, split),
        "lmms_eval_specific_kwargs:",
        "  default:",
        '    pre_prompt: ""',
        '    post_prompt: ""',
        "metadata:",
        "  - version: 1.0",
        f"    content_hash: {yaml_text(split.fingerprint or dataset.fingerprint)}",
    ]
    return "\n".join(said) + "\n"


def _metrics(dataset: ExportDataset, split: ExportSplit) -> list[str]:
    if not split.shows_answers:
        return ["  - metric: submission", "    aggregation: !function utils.aggregate_submission"]
    metrics = {"accuracy": "!function utils.aggregate_accuracy"}
    metrics |= {column["metric"]: "mean" for column in _columns(dataset, split)}
    return [
        line
        for metric, aggregation in metrics.items()
        for line in (f"  - metric: {metric}", f"    aggregation: {aggregation}", "    higher_is_better: true")
    ]


def group_yaml(dataset: ExportDataset, names: Mapping[str, str]) -> str:
    """Return the file of the group of all tasks."""
    tasks = [f"  - {yaml_text(task_name(dataset, plain))}" for plain in names.values()]
    return "\n".join([f"group: {yaml_text(_base(dataset))}", "task:", *tasks]) + "\n"


def task_name(dataset: ExportDataset, plain: str) -> str:
    """Return the name of a split's task in lmms-eval."""
    return f"{_base(dataset)}_{plain}"


def _base(dataset: ExportDataset) -> str:
    return NOT_A_NAME.sub("_", dataset.slug)


def _layout(dataset: ExportDataset, names: Mapping[str, str]) -> list[str]:
    is_pictured = dataset.world.media is Media.IMAGE
    tasks = ", ".join(f"`{task_name(dataset, plain)}`" for plain in names.values())
    return [
        f"Tasks of lmms-eval: {tasks}. Run them from within this folder, since they name their data relative to it:",
        "",
        f"    python -m lmms_eval --include_path . --tasks {task_name(dataset, next(iter(names.values())))} \\",
        "        --model MODEL --model_args ... --batch_size 1 --output_path results",
        "",
        "- `*.yaml`: the tasks; `utils.py`: their functions; `breakdown.json`: what accuracy is broken down by, "
        "and other words for answers",
        "- `data/`: the questions as Parquet" + ("; `images/`: the pictures, by split" if is_pictured else ""),
        "- results have `accuracy` and one metric for each question type; a file `..._by_facet.json` beside them has "
        "n and the number of right answers for every value of every facet",
        "- a split whose answers are withheld gives `..._predictions.json`, to be scored where the answers are kept",
    ]


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


FORMAT = LmmsEval()
