"""The documentation of replies: the site reads its example, and its limits are those of the code."""

import io
from pathlib import Path

from generation.engine.predictions import packed_replies, reply_records
from generation.engine.predictions.decompression import LARGEST, RATIO
from generation.engine.predictions.packed_replies import STATES
from generation.engine.predictions.reply_records import read_replies
from generation.engine.predictions.unanswered import FAILURES
from generation.exchange import reply_files
from webapp import documentation
from webapp.leaderboards.replies.reply_views import BY_NAME


def section() -> str:
    return documentation.source("predictions").partition("\n## Replies\n")[2].partition("\n## ")[0]


def test_the_example_is_read(tmp_path: Path) -> None:
    example = section().partition("```json\n")[2].partition("```")[0]
    assert read_replies(io.BytesIO(example.encode()), tmp_path / "packed", n=3).records == 3


def test_states_fields_and_limits_are_those_of_the_code() -> None:
    text = " ".join(section().split())
    assert all(f"`{state}`" in text for state in STATES)
    record = reply_records._record({"question": 0, "state": "failed"}, 1)
    assert all(f"`{name}`" in text for name in record)
    assert f"at most {reply_records.LONGEST_LINE:,} characters" in text
    assert f"only the first {reply_records.LONGEST_ERROR:,} characters of an error are kept" in text
    assert f"at most {reply_records.EACH_MOST} records for each question" in text
    assert f"Pages show at most {packed_replies.SHOWN:,} characters" in text
    megabytes, kibibytes = reply_records.LEAST_ROOM >> 20, reply_records.EACH_ROOM >> 10
    assert f"{megabytes} MB of text, plus {kibibytes} KiB for each question and {RATIO} bytes" in text
    assert f"at most {LARGEST >> 20:,} MB" in text
    assert f"{reply_files.SECONDS} seconds of processor time plus one for each" in text
    assert f"{reply_files.BYTES_A_SECOND / 1e6:g} MB, and {reply_files.MEMORY >> 30} GB of memory" in text


def test_pages_name_the_failures_and_the_states_in_addresses() -> None:
    predictions = documentation.source("predictions")
    assert all(start in predictions for start in FAILURES)
    reading = documentation.source("reading-boards")
    assert all(f"`{name}`" in reading or f"reply={name}" in reading for name in BY_NAME)
