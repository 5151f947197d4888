"""The functions of lmms-eval tasks for datasets exported by Horsesense: pictures, prompts and scores.

An export contains a copy of this file, named utils.py, beside its tasks. It needs only Pillow. `images/` and
`breakdown.json` are in the same folder.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NOT_FACETS = frozenset(
    {"image", "question", "answer", "choices", "question_id", "image_index", "split", "program", "prompt", "story"}
)
NUMBERS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
           "seventeen eighteen nineteen twenty")  # fmt: skip
DIGITS = {word: str(number) for number, word in enumerate(NUMBERS.split())}
TRUTHS = {"true": "yes", "false": "no"}
BITS = {"1": "yes", "0": "no"}

Doc = Mapping[str, Any]

log = logging.getLogger(__name__)


def doc_to_visual(doc: Doc) -> list[Any]:
    """Return a question's picture in a list; an empty list without a picture, as in a world of stories."""
    from PIL import Image

    if doc.get("image") is None:
        return []
    with Image.open(HERE / "images" / doc["split"] / doc["image"]) as image:
        return [image.convert("RGB")]


def doc_to_text(doc: Doc, lmms_eval_specific_kwargs: Mapping[str, str] | None = None) -> str:
    """Return the model's input: the question's prompt, between the prompts that the task adds before and after it."""
    around = lmms_eval_specific_kwargs or {}
    return f"{around.get('pre_prompt', '')}{doc['prompt']}{around.get('post_prompt', '')}"


def doc_to_target(doc: Doc) -> str:
    """Return the answer; an empty text if it is withheld."""
    return doc["answer"] or ""


def process_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Return the question's score in each metric, 1 if right and 0 if wrong; or the answer for a submission."""
    said = read_answer(results[0], doc["choices"], breakdown().get("synonyms", {}))
    if doc["answer"] is None:
        return {"submission": {"question_id": doc["question_id"], "answer": said, "split": doc["split"]}}
    right = float(said == doc["answer"])
    facets = {name: value for name, value in doc.items() if name not in NOT_FACETS}
    record = {"score": right, "question_id": doc["question_id"], "split": doc["split"], "facets": facets}
    columns = (one for one in breakdown()["columns"] if one["value"] in values_of(doc.get(one["facet"])))
    return {"accuracy": record, **{one["metric"]: right for one in columns}}


def aggregate_accuracy(results: Sequence[Mapping[str, Any]], args: Any = None) -> float:
    """Return accuracy. A file with the counts for every facet is written beside lmms-eval's results."""
    scored = by_facet(results)
    _write(scored, f"{_name(results)}_by_facet.json", args)
    log.info("accuracy %.4f of %d questions, by facet: %s", scored["accuracy"], scored["n"], scored["facets"])
    accuracy: float = scored["accuracy"]
    return accuracy


def aggregate_submission(results: Sequence[Mapping[str, Any]], args: Any = None) -> None:
    """Write the predictions for a split with withheld answers to a file, which is scored where the answers are kept."""
    answers = [{"question_id": one["question_id"], "answer": one["answer"]} for one in results]
    _write(sorted(answers, key=lambda one: one["question_id"]), f"{_name(results)}_predictions.json", args)


def by_facet(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return accuracy and n, and for each value of each facet how many questions have it and how many are right."""
    facets: dict[str, dict[str, dict[str, int]]] = {}
    for one in results:
        for name, value in one["facets"].items():
            for each in values_of(value):
                cell = facets.setdefault(name, {}).setdefault(each, {"n": 0, "correct": 0})
                cell["n"] += 1
                cell["correct"] += int(one["score"])
    right = sum(one["score"] for one in results)
    return {"accuracy": right / len(results) if results else 0.0, "n": len(results), "facets": facets}


def values_of(value: Any) -> list[str]:
    """Return the values of a facet for a question, as a list of texts: none, one, or several for flags."""
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


def read_answer(text: str, choices: Sequence[str], synonyms: Mapping[str, str] | None = None) -> str:
    """Return the choice that a model's text gives: the text itself, or the only choice that the text names.

    If the text contains the word "answer", only the text after the last one counts. Numbers may be words. "true" and
    "false" alone mean yes and no; so do 1 and 0 if no choice is a number. `synonyms` are other words for choices or
    their parts. If the text names no choice or more than one, it is returned unchanged, which is not a valid answer.
    """
    named = {choice.lower(): choice for choice in choices}
    ways = {word.lower(): meant.lower() for word, meant in (synonyms or {}).items()}
    known = {word: named[meant] for word, meant in ways.items() if meant in named} | named
    said = re.split(r"\banswer(?:\s+is\b|\s*:)?", text.strip().lower())[-1].strip(" \t\n.,:;!?\"'*`()")
    others = DIGITS | TRUTHS | ({} if any(choice.isdecimal() for choice in known) else BITS)
    for meant in (said, others.get(said)):
        if meant in known:
            return known[meant]
    if any("," in choice for choice in choices):
        return join_parts(said, named, ways) or text.strip()
    found = {choice for word, choice in known.items() if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said)}
    found |= {known[DIGITS[word]] for word in re.findall(r"\w+", said) if DIGITS.get(word) in known}
    return found.pop() if len(found) == 1 else text.strip()


def join_parts(said: str, known: Mapping[str, str], ways: Mapping[str, str]) -> str:
    """Return the choice whose parts a text lists, or an empty text. The parts of a set may come in any order.

    A choice is a set if the parts of every choice are in alphabetical order. `ways` are other words for parts.
    """
    parts = {tuple(choice.split(",")): choice for choice in known}
    usual = {part for one in parts for part in one}
    said_parts = [word for word in re.findall(r"[^\s,;.:!?\"'()/&+-]+", said) if word not in ("and", "then")]
    words = tuple([word if word in usual else ways.get(word, word) for word in said_parts])
    if words not in parts and all(list(one) == sorted(one) for one in parts):
        words = tuple(sorted(words))
    return known[parts[words]] if words in parts else ""


@cache
def breakdown() -> dict[str, Any]:
    """Return how the tasks break accuracy down, as the export wrote it."""
    found: dict[str, Any] = json.loads((HERE / "breakdown.json").read_text(encoding="utf-8"))
    return found


def _name(results: Sequence[Mapping[str, Any]]) -> str:
    return f"{breakdown()['dataset']}_{results[0]['split']}" if results else breakdown()["dataset"]


def _write(value: Any, name: str, args: Any) -> None:
    """Write a file into lmms-eval's output folder, or into the current folder if there is none."""
    output = Path(getattr(args, "output_path", None) or ".")
    folder = output.parent if output.suffix == ".json" else output
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
