"""The scratch site of the benchmark `score`: a board of many submissions, and uploads at the same time."""

import importlib
import json
import statistics
import sys
import time
from typing import Any

import django
import numpy as np

django.setup()

from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from generation.engine.predictions import Predictions  # noqa: E402
from generation.models import Split  # noqa: E402
from generation.storage.split_index import SplitIndex  # noqa: E402
from tests.benchmarks._browse_site import SLUG, build  # noqa: E402
from webapp.leaderboards import scoring, stored_predictions  # noqa: E402
from webapp.leaderboards.models import Method, Submission  # noqa: E402
from webapp.models import ApiToken, User  # noqa: E402

PER_SCENE = 10
SEED = 20161220
ASKED, WARM_UP = 30, 3


def fill(questions: int, submissions: int) -> dict[str, Any]:
    """Fill an empty site with a split and scored submissions, each of another method; return the data for uploads."""
    build(questions // PER_SCENE)
    owner = User.objects.create_user("mira", "mira@example.org", "x")
    split = Split.objects.for_browse().get(dataset__slug=SLUG)
    index, chance = SplitIndex.open(split), np.random.default_rng(SEED)
    for number in range(submissions):
        method = Method.objects.create(name=f"Method {number}", owner=owner, published=timezone.now())
        is_right = chance.random(index.n) < 0.3 + 0.6 * number / submissions
        codes = np.where(is_right, index.answers, chance.integers(len(index.answer_values), size=index.n))
        found = Predictions(codes.astype(np.int32), codes.astype(np.int32), {}, "lines", "")
        digest = stored_predictions.store(stored_predictions.pack_all(found))
        row = Submission.objects.create(
            method=method,
            split=split,
            state="done",
            finished=timezone.now(),
            predictions=digest,
        )
        scoring.score_on(row, split, found.codes, found.read).save()
    answers = [index.answer_values[code] for code in index.answers.tolist()]
    uploads = Method.objects.create(name="Uploads", owner=owner)
    return {
        "token": ApiToken.objects.make(owner, "here"),
        "method": uploads.pk,
        "split": str(split),
        "answers": answers,
    }


def measure() -> dict[str, float]:
    """Return the 95th percentile and the median of the time in ms that the server needs for a board."""
    importlib.import_module("webapp.wsgi")  # the web server imports it, too
    split = Split.objects.for_browse().get(dataset__slug=SLUG)
    client, times = Client(SERVER_NAME="localhost"), []
    for number in range(WARM_UP + ASKED):
        start = time.perf_counter()
        response = client.get(f"/leaderboards/{SLUG}/{split.name}/")
        took = 1000 * (time.perf_counter() - start)
        assert response.status_code == 200, response.status_code
        times += [took] if number >= WARM_UP else []
    return {"p95": sorted(times)[int(0.95 * len(times))], "median": statistics.median(times)}


def states() -> dict[str, int]:
    """Return the number of uploads, and the number of uploads whose score has every answer right."""
    rows = Submission.objects.exclude(filename="")
    right = sum(one.right == one.n for row in rows.filter(state="done") for one in row.scores.all())
    return {"uploads": rows.count(), "scored": right}


if __name__ == "__main__":
    wanted = {"fill": lambda: fill(int(sys.argv[2]), int(sys.argv[3])), "measure": measure, "states": states}
    sys.stdout.write(json.dumps(wanted[sys.argv[1]]()))
