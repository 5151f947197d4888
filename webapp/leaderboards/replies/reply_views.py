"""Replies as pages show them: shortened texts without hidden characters, and figures with units.

Pages call this only for visitors who may see the answers of methods. `may_see_replies` has the rule for downloads.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.predictions.packed_replies import (
    ANSWERED,
    NO_REPLY,
    SHOWN,
    STATES,
    PackedReplies,
    ReplyFigures,
    StoredRecord,
    last_attempts,
    state_of,
)
from generation.engine.replies.thoughts import split_thoughts, without_thoughts
from generation.engine.scoring.score import OUTSIDE
from generation.models import Split
from generation.storage.split_index import SplitIndex
from webapp.leaderboards import stored_predictions
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.models import Submission
from webapp.leaderboards.replies import stored_replies
from webapp.leaderboards.replies.reply_figures import dollars, seconds

EXCERPT = 160  # characters of a reply in a list
MOST_RUNS = 5  # runs of a row whose replies a page shows
MOST_RECORDS = 24  # records of a run that a page shows
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
NAMES = (
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI"),
    *("DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US"),
)


def without_hidden(text: str) -> str:
    # Control characters, including those for terminals and for the direction of text, become names such as ⟨ESC⟩.
    return HIDDEN.sub(lambda found: f"⟨{_name(found[0])}⟩", text.replace("\r\n", "\n"))


def _name(letter: str) -> str:
    code = ord(letter)
    return NAMES[code] if code < len(NAMES) else f"U+{code:04X}"


class ShownText(NamedTuple):
    text: str
    left: int = 0  # characters that are left out


class ReplyView(NamedTuple):
    """A record as a page shows it.

    Attributes
    ----------
    title : str
        The variant, repetition and attempt of the record; empty if the question has only one record.
    state : str
    reply, thoughts, reasoning : ShownText or None
        The reply without its blocks of thoughts, these blocks, and the reasoning that the server returned.
    facts : tuple of str
        Tokens, time, cost, and others.
    error : str
        The text of the server, if the request failed.
    """

    title: str
    state: str
    reply: ShownText | None
    thoughts: ShownText | None
    reasoning: ShownText | None
    facts: tuple[str, ...]
    error: str

    @property
    def is_answered(self) -> bool:
        return self.state == ANSWERED


class RunReplies(NamedTuple):
    submission: Submission
    views: list[ReplyView]
    left: int  # records that are left out


def replies_of(entry: Entry, index: SplitIndex, position: int) -> list[RunReplies]:
    """Return the replies of a row's runs to a question of the row's split."""
    found = []
    for submission in _runs_with_replies(entry)[:MOST_RUNS]:
        [own] = own_positions(submission, entry.split, index, [position])
        records = stored_replies.load(submission.replies).records([own]).get(own, [])
        shown = records[:MOST_RECORDS]
        views = [_view(record, is_only=len(records) == 1) for record in shown]
        found.append(RunReplies(submission, views, len(records) - len(shown)))
    return found


def _runs_with_replies(entry: Entry) -> list[Submission]:
    return [] if entry.is_human else [one for one in entry.submissions if one.replies]


def own_positions(submission: Submission, split: Split, index: SplitIndex, positions: Sequence[int]) -> list[int]:
    # A question set has the submissions of its parent.
    if submission.split_id == split.pk or index.positions is None:
        return list(positions)
    return [int(index.positions[position]) for position in positions]


def _view(record: StoredRecord, *, is_only: bool) -> ReplyView:
    lengths: Mapping[str, int] = record.get("lengths", {})
    return ReplyView(
        "" if is_only else _title(record),
        record["state"],
        *_reply(record["reply"], lengths.get("reply")),
        _text(record["reasoning"], lengths.get("reasoning")),
        tuple(_facts(record)),
        without_hidden(record["error"]),
    )


def _text(text: str | None, length: int | None) -> ShownText | None:
    if not text:
        return None
    shown = without_hidden(text[:SHOWN])
    return ShownText(shown, 0 if length is None else length - SHOWN)


def _reply(text: str | None, length: int | None) -> tuple[ShownText | None, ShownText | None]:
    """Return a reply without its thoughts, and its thoughts; if it is cut, the last of them says so."""
    said, thoughts = split_thoughts((text or "")[:SHOWN])
    shown = _text(said.strip(), length)
    thought = "\n\n".join(stripped for one in thoughts if (stripped := one.strip()))
    return shown, _text(thought, None if shown else length)


def _title(record: StoredRecord) -> str:
    parts = [f"variant {record['variant'] + 1}"]
    if record["epoch"]:
        parts.append(f"asked again ({record['epoch']})")
    return ", ".join([*parts, f"attempt {record['attempt']}"])


def _facts(record: StoredRecord) -> Iterator[str]:
    """Yield the tokens, the time, the cost, the finish reason and the model, as far as they are known."""
    usage = record["usage"] or {}
    for name in ("prompt", "completion"):
        if (count := usage.get(f"{name}_tokens")) is not None:
            yield f"{count:,} {name} token{'' if count == 1 else 's'}"
    if record["latency"] is not None:
        yield seconds(record["latency"])
    if record["cost"] is not None:
        yield dollars(record["cost"])
    if record["finish_reason"] not in ("", "stop"):
        yield f"ended by {without_hidden(record['finish_reason'])}"
    if record["model"]:
        served = record["served_model"]
        other = f", served as {served}" if served and served != record["model"] else ""
        yield without_hidden(f"{record['model']}{other}")


# In lists


class Excerpt(NamedTuple):
    """The beginning of a row's reply to a question, with its state, tokens and time."""

    state: str
    text: str
    facts: str

    @property
    def is_answered(self) -> bool:
        return self.state == ANSWERED


def excerpts_of(entry: Entry, index: SplitIndex, positions: Sequence[int]) -> dict[int, Excerpt]:
    """Return the excerpt of the first run that has replies, by position; empty if no run has."""
    runs = _runs_with_replies(entry)
    if not runs or not positions:
        return {}
    packed = stored_replies.load(runs[0].replies)
    own = own_positions(runs[0], entry.split, index, positions)
    records = packed.records(own)
    pairs = zip(positions, own, strict=True)
    return {at: _excerpt(packed, place, records[place]) for at, place in pairs if state_of(records.get(place, []))}


def _excerpt(packed: PackedReplies, place: int, records: Sequence[StoredRecord]) -> Excerpt:
    last = last_attempts(records)
    state = state_of(records)
    text = next((one["reply"] or one["error"] for one in last if one["state"] == state), "") or ""
    tokens, latency = packed.figures.tokens[place], packed.figures.latency[place]
    facts = [] if np.isnan(tokens) else [f"{tokens:,.0f} tokens"]
    facts += [] if np.isnan(latency) else [seconds(float(latency))]
    return Excerpt(state, shorten_text(without_thoughts(text).strip() or text), ", ".join(facts))


def shorten_text(text: str) -> str:
    words = " ".join(text[: 4 * EXCERPT].split())
    return without_hidden(words if len(words) <= EXCERPT else f"{words[:EXCERPT]}…")


def state_name(state: str) -> str:
    return state.replace(" ", "-")


UNREAD = "no answer read"  # the reply is complete, but no answer was found in it
CHOICES = (*STATES, UNREAD)
BY_NAME = {state_name(state): state for state in CHOICES}


def in_state(entries: Sequence[Entry], index: SplitIndex, state: str) -> NDArray[np.bool_]:
    """Return for each question whether a run of some row has a reply in this state, shape (questions,)."""
    found = np.zeros(index.n, np.bool_)
    for entry in entries:
        for submission in _runs_with_replies(entry)[:MOST_RUNS]:
            found |= _is_in_state(submission, entry.split, index, state)
    return found


def _is_in_state(submission: Submission, split: Split, index: SplitIndex, state: str) -> NDArray[np.bool_]:
    states = stored_replies.load(submission.replies).figures.states
    if submission.split_id != split.pk and index.positions is not None:
        states = states[index.positions]
    if state != UNREAD:
        return states == STATES.index(state)
    is_unread = stored_predictions.codes_for(submission, split, read=True) == OUTSIDE
    return is_unread & (states == STATES.index(ANSWERED))


def have_replies(entries: Sequence[Entry]) -> bool:
    return any(_runs_with_replies(entry) for entry in entries)


# The summary of a submission


class StateCount(NamedTuple):
    state: str
    name: str  # in URLs
    questions: int


def summary_of(submission: Submission) -> dict[str, Any]:
    """Return what the page of a submission says about its replies; empty if it has none."""
    if not submission.replies:
        return {}
    figures = stored_replies.load(submission.replies).figures
    counts = Counter(figures.states.tolist())
    states = [StateCount(state, state_name(state), counts[code]) for code, state in enumerate(STATES) if counts[code]]
    if unread := int(_is_in_state(submission, submission.split, SplitIndex.open(submission.split), UNREAD).sum()):
        states.append(StateCount(UNREAD, state_name(UNREAD), unread))
    asked = int((figures.states != NO_REPLY).sum())
    return {"states": states, "replied": asked, "reply_facts": list(_sums(figures))}


def _sums(figures: ReplyFigures) -> Iterator[tuple[str, str]]:
    """Yield name and text of each figure that is known."""
    for name, counts in (("Prompt tokens", figures.prompt_tokens), ("Completion tokens", figures.completion_tokens)):
        if len(known := _known(counts)):
            yield name, f"{known.sum():,.0f}, {known.mean():,.0f} for each question"
    if len(cost := _known(figures.cost)):
        yield "Cost", f"{dollars(float(cost.sum()))}, {dollars(1000 * float(cost.mean()))} for 1,000 questions"
    if len(latency := _known(figures.latency)):
        half, most = np.quantile(latency, [0.5, 0.9]).tolist()
        yield "Time of a reply", f"median {seconds(half)}, 90 % within {seconds(most)}"


def _known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]
