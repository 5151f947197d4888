"""Rows of a board that are stored without an upload."""

from typing import Any

import numpy as np
from django.db.models.functions import Now
from django.utils import timezone

from generation.engine.predictions.packed_predictions import pack
from generation.models import Split
from webapp.leaderboards import scoring, stored_predictions
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.models import Method, Submission


def method(owner: Any, name: str, **more: Any) -> Method:
    """Return a published method."""
    return Method.objects.create(owner=owner, name=name, **{"published": timezone.now(), **more})


def submit(
    by: Method, split: Split, codes: np.ndarray, *, outside: dict[int, str] | None = None, **more: Any
) -> Submission:
    """Return a scored submission of these codes."""
    own = codes.astype(np.int32)
    digest = stored_predictions.store(pack(own, own, outside or {}))
    made = Submission.objects.create(
        method=by, split=split, state=Submission.State.DONE, predictions=digest, finished=Now(), **more
    )
    scoring.score_on(made, split, own, own).save()
    disclosure_budget.catch_up()
    return made
