"""The results of a training: the stored model, and submissions of its predictions."""

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from django.core.files.storage import default_storage
from django.db.models import Count, Sum

from generation.engine.errors import BadTraining
from generation.engine.learners import find_learner
from generation.engine.learners.model_files import ABOUT
from generation.engine.learners.training_process import MODEL
from generation.engine.predictions import ExpectedAnswers
from generation.models import Split
from generation.reports.scoring import expected_of
from generation.storage import files, storage_quotas
from webapp.leaderboards import uploads
from webapp.leaderboards.deletion import is_old
from webapp.leaderboards.models import Method, Submission, Training
from webapp.leaderboards.training.orders import order_of, read_config

FOLDER = "models"
LEVEL = 4  # compression of uploads
SETTINGS_DIFFER = "The settings differ between its runs. The page of each submission shows them."


class StoredModel(NamedTuple):
    name: str
    digest: str
    size: int


def store_model(training: Training, folder: Path) -> StoredModel:
    """Store the two files of a model; raise `BadTraining` if the owner's account has no room for them."""
    weights, about = folder / MODEL, (folder / MODEL).with_suffix(ABOUT)
    content = weights.read_bytes()
    size = len(content) + about.stat().st_size
    try:
        storage_quotas.check(training.owner, size)
    except storage_quotas.AccountFull as error:
        raise BadTraining(str(error), where="model") from error
    digest = hashlib.sha256(content).hexdigest()
    name = f"{FOLDER}/{training.pk}-{digest[:16]}{weights.suffix}"
    files.put(name, content)
    files.put(about_name(name), about.read_bytes())
    return StoredModel(name, digest, size)


def about_name(name: str) -> str:
    return str(Path(name).with_suffix(ABOUT))


def drop_model(training: Training) -> None:
    if training.model:
        files.drop(training.model)
        files.drop(about_name(training.model))


def drop_models_without_row() -> int:
    """Delete old files of models that no training names, which a crash may leave; return their number."""
    known: set[str] = set()
    for name in Training.objects.exclude(model="").values_list("model", flat=True):
        known |= {name, about_name(name)}
    with suppress(FileNotFoundError):
        names = [f"{FOLDER}/{name}" for name in default_storage.listdir(FOLDER)[1] if not name.startswith(".")]
        gone = [name for name in names if name not in known and is_old(name)]
        for name in gone:
            files.drop(name)
        return len(gone)
    return 0


def storage_use(user: Any) -> storage_quotas.Use:
    found = Training.objects.filter(owner=user.pk).exclude(model="")
    total = found.aggregate(number=Count("pk"), size=Sum("model_size"))
    return storage_quotas.Use("Trained models", total["number"], total["size"] or 0, "Delete trainings on their pages.")


# Submissions


def submit(training: Training, folder: Path, *, check: Callable[[], None]) -> list[Submission]:
    """Return the submissions of all predictions of a training. Submissions that exist are not made again.

    Submissions do not state the number of examples seen, which only the training has. Early stopping gives each seed
    another number, and boards only average runs with the same number.

    Raises
    ------
    BadTraining
        If a submission is refused.
    NoSpace
        If the disk is full.
    """
    about = {"made": Method.Made.TRAINED, "description": _describe(training)}
    method, is_new = Method.objects.get_or_create(owner=training.owner, name=training.name, defaults=about)
    if not is_new:
        _drop_settings(method, training)
    submissions = []
    try:
        for split in training.test_splits:
            check()
            path = write_upload(split, folder / f"predictions-{folder_name(split)}.jsonl")
            order = uploads.Order(
                method,
                split,
                run=str(training.seed),
                trained_on=training.train,
                train_size=training.train.questions,
                key=f"training-{training.pk}-{split.pk}",
                training=training,
            )
            with path.open("rb") as file:
                submissions += uploads.receive(training.owner, order, file, path.name).submissions
            path.unlink()
    except uploads.UploadRefused as refusal:
        if refusal.code == "disk_full":
            files.check_reserve()
        raise BadTraining(str(refusal), where="submission") from refusal
    finally:
        if is_new and not submissions:
            Method.objects.filter(pk=method.pk, submissions=None).delete()
    return submissions


def folder_name(split: Split) -> str:
    return f"test-{split.pk}"


def _describe(training: Training) -> str:
    """Return the description of a method that has only this training."""
    learner = find_learner(training.method)
    settings_text = json.dumps(read_config(order_of(training)).model_dump(mode="json"), sort_keys=True)
    changed = " with changed settings" if training.config_data else ""
    about = (
        f"{learner.label}, trained on this site: `manage.py train {training.method} --size {training.size}`{changed}."
    )
    return f"{about} Source: {learner.source}.\n\nSettings: `{settings_text}`"


def _drop_settings(method: Method, training: Training) -> None:
    """Replace the settings in a method's description if an earlier training has others than this one."""
    earlier = Training.objects.filter(submissions__method=method)
    if earlier.exclude(method=training.method, size=training.size, config=training.config).exists():
        text = re.sub(r"^Settings: `\{.*\}`$", SETTINGS_DIFFER, method.description, flags=re.MULTILINE)
        text = re.sub(r"(`manage\.py train [\w-]+) --size \w+`( with changed settings)?\.", r"\1`.", text)
        Method.objects.filter(pk=method.pk).update(description=text)


def write_upload(split: Split, path: Path) -> Path:
    """Write predictions of the training process as a compressed upload, and return its path."""
    expected = expected_of(split)
    upload = path.with_name(f"{path.name}.gz")
    with path.open(encoding="utf-8") as lines, gzip.open(upload, "wt", compresslevel=LEVEL, encoding="utf-8") as file:
        for row in _rows(expected, (json.loads(line) for line in lines)):
            file.write(json.dumps(row) + "\n")
    return upload


def _rows(expected: ExpectedAnswers, predictions: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of an upload. Boxes, which are given as shares of the picture, become pixels."""
    for number, one in enumerate(predictions):
        row: dict[str, Any] = {"question_id": number, "answer": one["answer"]}
        if one.get("boxes") is not None and expected.sizes is not None and expected.sizes[number].all():
            width, height = expected.sizes[number].tolist()
            row["boxes"] = [[x1 * width, y1 * height, x2 * width, y2 * height] for x1, y1, x2, y2, _ in one["boxes"]]
            row["scores"] = [score for *_, score in one["boxes"]]
        yield row
