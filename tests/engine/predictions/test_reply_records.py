"""Files of replies: what is read and stored, hostile files, and figures computed one by one."""

import gzip
import io
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.errors import BadReplies
from generation.engine.predictions import packed_replies, reply_records
from generation.engine.predictions.packed_replies import NO_REPLY, SHOWN, STATES, DamagedReplies, PackedReplies
from generation.engine.predictions.reply_records import read_replies
from tests.engine.predictions.hostile import archive

N = 7


def record(question: int = 0, state: str = "answered", **more: Any) -> dict[str, Any]:
    """Return a record as ask.py writes it."""
    reply = "It is a cube. Answer: cube" if state in ("answered", "cut off") else None
    return {
        "time": "2026-11-26T00:00:00Z",
        "split": "clevr/val",
        "question": question,
        "form": "plain",
        "variant": 0,
        "epoch": 0,
        "attempt": 1,
        "key": "k",
        "model": "m",
        "latency": 0.5,
        "state": state,
        "reply": reply,
        "reasoning": None,
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, "details": {"x": [1]}},
    } | more


def jsonl(records: list[Any]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in records).encode()


def packed(content: bytes, folder: Path, *, n: int = N) -> PackedReplies:
    """Read a file of replies and open the packed file."""
    target = folder / "packed"
    digest = read_replies(io.BytesIO(content), target, n=n, where="clevr/val").digest
    return opened(target, digest)


def opened(target: Path, digest: str) -> PackedReplies:
    content = target.read_bytes()
    return PackedReplies(lambda start, stop: content[start:stop], len(content), digest)


def test_records_are_stored_by_question_and_unknown_fields_are_left_out(tmp_path: Path) -> None:
    found = packed(jsonl([record(5), record(2, "failed", error="502", usage=None, latency=None)]), tmp_path)
    [five] = found.records([5])[5]
    assert five["reply"] == "It is a cube. Answer: cube" and five["usage"] == {
        "prompt_tokens": 100,
        "completion_tokens": 10,
    }
    assert "split" not in five and "key" not in five
    assert found.records([0, 2])[2][0]["error"] == "502" and list(found.records([0, 2])) == [2]
    assert [json.loads(line)["question"] for line in b"".join(found.lines()).splitlines()] == [2, 5]
    assert found.figures.states.tolist() == [255, 255, 4, 255, 255, 0, 255]
    assert found.figures.tokens[5] == 110 and math.isnan(found.figures.tokens[2])


@pytest.mark.parametrize("content", [gzip.compress, lambda content: archive(("replies.jsonl", content))])
def test_packed_files_are_read(tmp_path: Path, content: Any) -> None:
    assert packed(content(jsonl([record(1)])), tmp_path).records([1])[1][0]["state"] == "answered"


def test_the_same_replies_have_the_same_digest(tmp_path: Path) -> None:
    rows = [record(at) for at in range(N)]
    digests = {packed(jsonl(order), tmp_path).digest for order in (rows, rows[::-1])}
    assert len(digests) == 1


DEEP = '{"question": 0, "state": "failed", "reasoning": ' + "[" * 200_000 + "]" * 200_000 + "}"
HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "expected replies, got an empty file"),
    "only spaces": (b" \n\n", "expected replies, got an empty file"),
    "a program": (b"\x7fELF" + bytes(300), "expected replies, got a program"),
    "HTML": (b"<html>", "expected replies, got an HTML page"),
    "no JSON": (b"{question: 0}\n", "Line 1 of the replies: expected JSON"),
    "a list": (b"[1]\n", "expected a record such as"),
    "NUL": (b'{"question": 0,\0}\n', "a NUL byte"),
    "not UTF-8": (jsonl([record(1)]) + b'{"question": 0, "reply": "\xff"}\n', "got the byte 0xff"),
    "a cut gzip": (gzip.compress(jsonl([record(at) for at in range(N)]))[:-20], "cut off"),
    "deep": (DEEP.encode(), "nested too deep"),
    "a name twice": (b'{"question": 0, "question": 1, "state": "failed"}\n', "occurs twice"),
    "NaN": (b'{"question": 0, "state": "failed", "latency": NaN}\n', "expected finite numbers, got NaN"),
    "infinity": (b'{"question": 0, "state": "failed", "cost": 1e999}\n', "as cost, got inf"),
    "negative cost": (jsonl([record(cost=-1)]), "as cost, got -1"),
    "a latency of many digits": (b'{"question": 0, "state": "failed", "latency": ' + b"9" * 400 + b"}\n", "as latency"),
    "true as latency": (jsonl([record(latency=True)]), "as latency, got True"),
    "a text as cost": (jsonl([record(cost="1")]), "as cost, got '1'"),
    "half a token": (jsonl([record(usage={"prompt_tokens": 1.5})]), "as prompt_tokens, got 1.5"),
    "negative tokens": (jsonl([record(usage={"completion_tokens": -1})]), "as completion_tokens, got -1"),
    "a list as usage": (jsonl([record(usage=[])]), "as usage, got a list"),
    "no question": (b'{"state": "failed"}\n', "expected a question from 0 to 6, got null"),
    "a question too high": (jsonl([record(N)]), "expected a question from 0 to 6, got 7"),
    "a negative question": (jsonl([record(-1)]), "expected a question from 0 to 6, got -1"),
    "a question as text": (jsonl([record() | {"question": "1"}]), "expected a question from 0 to 6, got '1'"),
    "an unknown state": (jsonl([record() | {"state": "done"}]), "expected one of the states answered, cut off"),
    "a list as state": (jsonl([record() | {"state": []}]), "expected one of the states"),
    "answered without text": (jsonl([record(reply=" ")]), "expected a reply with text for the state answered"),
    "a number as reply": (jsonl([record(reply=3)]), "expected a text or null as reply, got 3"),
    "a negative attempt": (jsonl([record(attempt=-1)]), "as attempt, got -1"),
    "an attempt twice": (
        jsonl([record(1), record(2), record(1)]),
        "Line 3 of the replies: expected one record of each",
    ),
    "two models": (jsonl([record(1), record(2, model="other")]), "expected the same model in each record"),
    "two forms": (jsonl([record(1), record(2, form="circular")]), "expected the same form in each record"),
    "too many records": (
        jsonl([record(0, "failed", attempt=at) for at in range(reply_records.EACH_MOST + 1)]),
        f"expected at most {reply_records.EACH_MOST} records of a question",
    ),
    "a huge number": (b'{"question": ' + b"9" * 5000 + b"}\n", "expected JSON"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_one_clear_message(name: str, tmp_path: Path) -> None:
    content, said = HOSTILE[name]
    with pytest.raises(BadReplies) as refused:
        packed(content, tmp_path)
    assert said.lower() in str(refused.value).lower() and "Format: /docs/predictions/#replies" in str(refused.value)
    assert str(refused.value).isprintable() and len(str(refused.value)) < 500


def test_a_line_or_a_file_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_records, "LONGEST_LINE", 1000)
    with pytest.raises(BadReplies, match="at most 1,000 characters in a line"):
        packed(jsonl([record(1, reply="x" * 1000)]), tmp_path)
    monkeypatch.setattr(reply_records, "LEAST_ROOM", 0)
    monkeypatch.setattr(reply_records, "EACH_ROOM", 10)
    with pytest.raises(BadReplies, match="compress it less"):
        packed(gzip.compress(jsonl([record(1, reply="x" * 900)] * 100)), tmp_path)


def test_long_and_strange_texts_are_stored_whole_and_read_cut(tmp_path: Path) -> None:
    reply = "\x1b[31m<script>\u202e" + "ü" * 5_000_000
    rows = [record(0, reply=reply, reasoning={"reasoning": "a", "reasoning_content": "a", "reasoning_details": [1]})]
    found = packed(jsonl([*rows, record(1, reply='half \\ud800 "of a pair'.replace("\\ud800", "\ud800"))]), tmp_path)
    [kept] = found.records([0])[0]
    assert kept["reply"] == reply[:SHOWN] and kept["lengths"] == {"reply": len(reply)}
    assert kept["reasoning"] == "a\n\n[1]"
    assert found.records([1])[1][0]["reply"] == 'half \ufffd "of a pair'
    assert json.loads(next(found.lines()).splitlines()[0])["reply"] == reply


def test_a_damaged_file_is_noticed(tmp_path: Path) -> None:
    target = tmp_path / "packed"
    rows = [record(at, reply=str(random.Random(at).random()) * 50) for at in range(N)]
    digest = read_replies(io.BytesIO(jsonl(rows)), target, n=N).digest
    content = target.read_bytes()
    for at in range(0, len(content), 7):
        target.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(DamagedReplies):
            opened(target, digest).records(range(N))
    for broken in (b"", content[:-1], content[1:]):
        target.write_bytes(broken)
        with pytest.raises(DamagedReplies):
            opened(target, digest)


numbers = st.none() | st.integers(0, 10**6)
records_of = st.lists(
    st.builds(
        lambda question, state, variant, epoch, tokens, cost, latency: record(
            question,
            state,
            variant=variant,
            epoch=epoch,
            usage=None if tokens is None else {"prompt_tokens": tokens},
            cost=None if cost is None else cost / 1024,
            latency=None if latency is None else latency / 1024,
        ),
        st.integers(0, N - 1),
        st.sampled_from(STATES),
        st.integers(0, 2),
        st.integers(0, 1),
        numbers,
        numbers,
        numbers,
    ),
    min_size=1,
    max_size=30,
)


@settings(deadline=None, max_examples=60)
@given(records_of)
def test_figures_are_equal_to_counting_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    rows = [row | {"attempt": at} for at, row in enumerate(rows)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_replies, "BLOCK", 600)  # several blocks
        found = packed(jsonl(rows), tmp_path_factory.mktemp("replies"))
    for question in range(N):
        mine = [row for row in rows if row["question"] == question]
        assert [one["attempt"] for one in found.records([question]).get(question, [])] == [
            one["attempt"] for one in mine
        ]
        first = [row for row in mine if row["epoch"] == 0]
        last: dict[int, Any] = {}
        for row in first:
            last[row["variant"]] = row
        states = [last[variant]["state"] for variant in sorted(last)]
        state = next((one for one in states if one != "answered"), "answered" if states else None)
        assert found.figures.states[question] == (NO_REPLY if state is None else STATES.index(state))
        tokens = [row["usage"]["prompt_tokens"] for row in first if row["usage"]]
        costs = [row["cost"] for row in first if row["cost"] is not None]
        latencies = [row["latency"] for row in last.values() if row["latency"] is not None]
        for kept, wanted in (
            (found.figures.tokens, sum(tokens) if tokens else math.nan),
            (found.figures.cost, sum(costs) if costs else math.nan),
            (found.figures.latency, sum(latencies) / len(latencies) if latencies else math.nan),
        ):
            assert np.isclose(kept[question], wanted, equal_nan=True)
