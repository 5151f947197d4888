"""The dataset card, README.md: the page that the Hub shows, with YAML, tables, figures and limits."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.formats import ExportDataset, ExportItem, ExportSplit
from generation.engine.formats.huggingface.card_licence import hub_name
from generation.engine.formats.huggingface.card_statistics import FacetCounter, lines
from generation.engine.formats.huggingface.croissant_rai import biases, limits, making, uses
from generation.engine.formats.huggingface.rows import STORY, first_of
from generation.engine.items import ChartView, Media
from generation.engine.scoring.figures import is_too_few, percent

TASK = {Media.IMAGE: "visual-question-answering", Media.STORY: "question-answering", Media.NONE: "question-answering"}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"),
         (10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"))  # fmt: skip
MOST_LINES = 40  # of a table; the most frequent values if there are more


class CardExample(NamedTuple):
    """The item that the card shows, and the path of its picture; empty without a picture."""

    split: str
    item: ExportItem
    picture: str


class Card(NamedTuple):
    """Everything that a card is made from.

    Attributes
    ----------
    dataset : ExportDataset
    names : mapping of str to str
        The name of each split in `datasets`.
    columns : mapping of str to str
        The columns of the configuration `questions`, with a description each.
    embedded : bool
        Whether that configuration contains the pictures.
    tallies : mapping of str to FacetCounter
    figures : sequence of str
        The names of the files in the folder `figures`.
    example : CardExample or None
    has_tasks : bool
        Whether the export has an `eval.yaml`.
    """

    dataset: ExportDataset
    names: Mapping[str, str]
    columns: Mapping[str, str]
    embedded: bool
    tallies: Mapping[str, FacetCounter]
    figures: Sequence[str]
    example: CardExample | None
    has_tasks: bool


def card(told: Card) -> str:
    """Return the text of README.md."""
    parts = [
        _front_matter(told),
        f"# {_escaped(told.dataset.title)}",
        _flowed(told.dataset.description),
        _facts(told.dataset),
        *_example(told),
        _splits(told),
        _usage(told),
        _columns(told),
        *_statistics(told),
        _evaluation(told),
        _making(told),
        _licence(told.dataset),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def yaml_text(value: str) -> str:
    """Return a text as a YAML string on one line, with special characters escaped."""
    return json.dumps(value, ensure_ascii=False)


def size_category(rows: int) -> str:
    """Return the Hub's size category for a number of rows."""
    return next((name for most, name in SIZES if rows < most), "100M<n<1B")


def _front_matter(told: Card) -> str:
    dataset = told.dataset
    licence = hub_name(dataset.licence)
    said = ["---", f"pretty_name: {yaml_text(_line(dataset.title))}", "language:", "- en", f"license: {licence}"]
    if licence == "other":
        said += [f"license_name: {yaml_text(dataset.licence.strip())}", "license_link: README.md"]
    said += ["task_categories:", f"- {TASK[dataset.world.media]}", "size_categories:"]
    said += [f"- {size_category(sum(split.questions for split in dataset.splits))}"]
    said += ["tags:", "- diagnostic", "- synthetic", "- compositional-reasoning", "configs:"]
    for name in ("questions", "scenes"):
        said += [f"- config_name: {name}", *(["  default: true"] if name == "questions" else []), "  data_files:"]
        for plain in told.names.values():
            said += [f"  - split: {plain}", f"    path: {yaml_text(f'{name}/{plain}/*.parquet')}"]
    return "\n".join([*said, "---"])


def _facts(dataset: ExportDataset) -> str:
    facts = [
        ("Authors", ", ".join(dataset.authors)),
        ("Licence", dataset.licence),
        ("Version", dataset.version),
        ("Complete since", dataset.completed.isoformat()),
        ("World", dataset.world.label),
        ("Content hash", f"`{dataset.fingerprint}`"),
        ("Made with", f"Horsesense {dataset.release}, engine {dataset.engine_version}"),
        ("Page", dataset.url),
    ]
    return table(["", ""], [[name, value] for name, value in facts if value])


def _example(told: Card) -> list[str]:
    if told.example is None:
        return []
    split, item, path = told.example
    picture = f"![Picture {item.position} of the split {split}]({path})\n\n" if path else _told(item)
    rows = [
        [question.text, question.answer.text if question.answer else "withheld"] for question in item.item.questions
    ]
    noun = told.dataset.world.media.noun.capitalize()
    return ["## An example", f"{noun} {item.position} of {split}:\n\n{picture}{table(['Question', 'Answer'], rows)}"]


def _told(item: ExportItem) -> str:
    """Return the lines of an item's story, numbered; empty without a story."""
    lines = [f"{number}. {_escaped(line)}" for number, line in enumerate(item.story or (), 1)]
    return "\n".join(lines) + "\n\n" if lines else ""


def _splits(told: Card) -> str:
    rows = [
        [f"`{told.names[split.name]}`", split.name, f"{split.scenes:,}", f"{split.questions:,}", _shown(split),
         split.reference or "", f"`{split.fingerprint[:16]}`" if split.fingerprint else ""]
        for split in told.dataset.splits
    ]  # fmt: skip
    heads = ["In `datasets`", "Split", "Scenes", "Questions", "Answers", "Measured against", "Content hash begins"]
    return f"## Splits\n\n{table(heads, rows)}"


def _shown(split: ExportSplit) -> str:
    return "shown" if split.shows_answers else "withheld"


def _usage(told: Card) -> str:
    first, noun = next(iter(told.names.values())), "image" if told.dataset.world.media is Media.IMAGE else "story"
    has = "a picture" if told.embedded else "its picture's name; the picture stands in `scenes`"
    has, sample = (has, "a PIL image") if noun == "image" else ("the lines that it sees", "its lines, a list")
    one = "an image" if noun == "image" else "a story"
    return (
        "## Use\n\n```python\nfrom datasets import load_dataset\n\n"
        f'questions = load_dataset("FOLDER_OR_REPOSITORY", "questions", split="{first}")\n'
        f'scenes = load_dataset("FOLDER_OR_REPOSITORY", "scenes", split="{first}")\n'
        f'scenes[0]["{noun}"]  # {sample}\n```\n\n'
        f"`questions` has a row a question, with {has}. `scenes` has a row {one}"
        f', with its scene and its questions. The {noun} of question `q` is row `q["image_index"]` of `scenes`. '
        "The files' checksums stand in `SHA256SUMS`."
    )


def _columns(told: Card) -> str:
    rows = [[f"`{name}`", about] for name, about in told.columns.items()]
    return (
        f"## Columns of `questions`\n\n{table(['Column', 'What it holds'], rows)}\n\n"
        f"`scenes` has {_shown_in(told)}, `scene` and `view` (JSON, where they may be shown), `questions` (a list of "
        "the columns above), `image_index` and `split`."
    )


def _shown_in(told: Card) -> str:
    return " and ".join(f"`{name}`" for name in first_of(told.dataset.world) if name in ("image", STORY))


def _statistics(told: Card) -> list[str]:
    parts = [part for view in told.dataset.world.views if (part := _view(told, view))]
    views = {view.name for view in told.dataset.world.views}
    others = [f"![{name}](figures/{name})" for name in told.figures if name.rpartition(".")[0] not in views]
    return ["## Statistics", *parts, *others] if parts or others else []


def _view(told: Card, view: ChartView) -> str:
    """Return one of the world's charts as a figure and a table; empty if no split has its facet."""
    splits, found = lines(told.dataset.splits, view.facet)
    if not splits:
        return ""
    figure = f"{view.name}.svg"
    picture = f"![{view.title}](figures/{figure})\n\n" if figure in told.figures else ""
    shown, left = found, 0
    if len(found) > MOST_LINES:
        most = set(sorted(range(len(found)), key=lambda at: (-sum(found[at].counts), at))[:MOST_LINES])
        shown, left = [line for at, line in enumerate(found) if at in most], len(found) - MOST_LINES
    rows = [
        [line.label, *(_cell(n, split) for n, split in zip(line.counts, splits, strict=True))] for line in shown
    ]  # fmt: skip
    heads = [view.axis, *(f"{split.name} (n = {split.questions:,})" for split in splits)]
    more = f"\n\n{left:,} rarer values are left out." if left else ""
    return f"### {view.title}\n\n{picture}{table(heads, rows)}{more}"


def _cell(n: int, split: ExportSplit) -> str:
    return f"{n:,}" if is_too_few(split.questions) else f"{n:,} ({percent(n / split.questions)})"


def _evaluation(told: Card) -> str:
    is_pictured = told.dataset.world.media is Media.IMAGE
    given, asks = ("the picture and ", "asks") if is_pictured else ("", "tells the story, asks")
    text = (
        f"## Evaluate\n\nGive a model {given}the column `prompt`, which {asks} the question and says what form "
        "the answer has; `choices` are all answers it may have. An answer is right when it equals `answer`. Report "
        "accuracy for the whole split with its n, then broken down by the facets."
    )
    if told.has_tasks:
        text += " `eval.yaml` says the same to the Hub and to Inspect AI."
        if is_pictured and not told.embedded:
            text += " It needs the pictures in `questions`: export with `--embed` before running it."
    return text


def _making(told: Card) -> str:
    dataset = told.dataset
    bullets = {
        "What it is for": uses(dataset),
        "Limits": limits(dataset),
        "Biases": biases(dataset, told.tallies),
    }
    parts = [f"## How it was made\n\n{_escaped(making(dataset))}"]
    parts += [f"### {head}\n\n" + "\n".join(f"- {_escaped(one)}" for one in ones) for head, ones in bullets.items()]
    return "\n\n".join(parts)


def _licence(dataset: ExportDataset) -> str:
    stated = _escaped(dataset.licence) or "No licence is stated."
    bibtex = dataset.citation.strip().replace("```", "")
    cited = f"\n\n```bibtex\n{bibtex}\n```" if bibtex.startswith("@") else ""
    said = "" if cited or not dataset.citation.strip() else f"\n\n{_flowed(dataset.citation)}"
    head = "## Licence and citation" if cited or said else "## Licence"
    return f"{head}\n\n{stated}{cited}{said}"


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    written = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell_text(cell) for cell in row)} |" for row in written)


def _cell_text(value: Any) -> str:
    return _line(str(value)).replace("|", r"\|").replace("<", "&lt;")


def _line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return _line(text).replace("<", "&lt;")


def _flowed(text: str) -> str:
    paragraphs = [_escaped(part) for part in text.split("\n\n")]
    return "\n\n".join(part for part in paragraphs if part)
