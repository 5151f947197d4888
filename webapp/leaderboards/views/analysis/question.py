"""View of one question with the answers of a board's rows, side by side: their boxes on its picture, their replies."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from generation.access import What, may_see
from generation.browsing.import_report import why_no_picture
from generation.browsing.pictures import picture_of
from generation.storage import items
from webapp.leaderboards.analysis.question_answers import read_row, true_boxes
from webapp.leaderboards.replies.reply_views import replies_of
from webapp.leaderboards.views.analysis.board_selection import (
    BoardReading,
    UnreadableAddress,
    board_view,
    check_open,
)
from webapp.leaderboards.views.analysis.questions import answers_outside


@require_safe
@board_view()
def question(reading: BoardReading, number: int) -> HttpResponse:
    """Return a question with the answers, boxes and replies of rows: `?entry=m5&entry=m7`."""
    check_open(reading)
    reading.check_names()
    split = reading.split
    asked = items.question_at(split, number)
    if asked is None:
        raise UnreadableAddress(f"Expected a question from 0 to {split.questions - 1:,}, got {number:,}.")
    pairs = zip(reading.chosen, reading.contenders, strict=True)
    outside = [answers_outside(entry, reading.index) for entry in reading.chosen]
    rows = [read_row(split, reading.ground, pair, number, words) for pair, words in zip(pairs, outside, strict=True)]
    replies = [replies_of(entry, reading.index, number) for entry in reading.chosen]
    allowed = frozenset(what for what in What if may_see(reading.request.user, split, what))
    query = urlencode(reading.entry_pairs)
    context: dict[str, Any] = {
        **reading.context("Question by question"),
        "question": asked,
        "number": number,
        "rows": list(zip(rows, replies, strict=True)),
        "has_replies": any(replies),
        "has_boxes": reading.index.boxes is not None or any(row.boxes is not None for row in rows),
        "picture": picture_of(asked.scene, split) if What.IMAGE in allowed else None,
        "why_no_picture": why_no_picture(asked.scene, split, allowed=allowed),
        "true_boxes": true_boxes(reading.index, number),
        "is_grounded": reading.index.boxes is not None and bool(reading.index.boxes.known[number]),
        "rows_query": query,
        "before": number - 1 if number else None,
        "after": number + 1 if number + 1 < split.questions else None,
    }
    return render(reading.request, "leaderboards/question.html", context)
