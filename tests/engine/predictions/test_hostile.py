"""Hostile files: each causes one clear error, quickly and in little memory, and leaves no files behind."""

import gzip
import io
import tracemalloc
from contextlib import suppress
from pathlib import Path
from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generation.engine.errors import BadPredictions
from generation.engine.predictions import decompression, members, read_predictions
from tests import proof
from tests.engine.predictions.asked import expected, read, refusal
from tests.engine.predictions.hostile import FILES, GOOD, N, zeros
from tests.engine.predictions.written import FORMATS, PACKINGS, zipped


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_hostile_file_is_refused_with_one_clear_message(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = FILES[name]
    content = hostile.content()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    begun = process_time()
    error = refusal(content, N)
    assert process_time() - begun < 5
    assert hostile.says in str(error)
    assert str(error).endswith("Format: /docs/predictions/")
    assert "\n" not in str(error)
    assert len(str(error)) < 3000
    assert str(error).isprintable()
    assert error.findings is not None
    assert list(tmp_path.iterdir()) == []


def test_the_valid_file_behind_the_hostile_ones_is_read() -> None:
    for packed in PACKINGS.values():
        assert (read(packed(GOOD), N).codes >= 0).all()


@pytest.mark.full
def test_ten_gigabytes_of_zeros_in_a_small_zip_are_not_unpacked() -> None:
    bomb = zeros(megabytes=10 << 10)
    assert len(bomb) < 50 << 20
    tracemalloc.start()
    error = refusal(bomb, N)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "Expected at most 1,024 MB in 'a.txt', got 10,240 MB" in str(error)
    assert peak < 50 << 20


def test_unpacking_stops_at_the_limit_of_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "LARGEST", 1 << 20)
    error = refusal(gzip.compress(b"[" + b"\n" * (1 << 24)), N)
    assert "expected at most 1 MB of text, got more" in str(error)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("1,000,001 lines", marks=pytest.mark.full),
        pytest.param("1,000,001 broken lines", marks=pytest.mark.full),
        "spaces in gzip",
        "deep json",
    ],
)
def test_memory_stays_small(name: str) -> None:
    content = FILES[name].content()
    tracemalloc.start()
    refusal(content, N)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 << 20


@settings(max_examples=proof.size(4000, name="prediction files harmed at random", most=100), deadline=None)
@given(
    name=st.sampled_from(sorted(FORMATS)),
    packing=st.sampled_from(sorted(PACKINGS)),
    harms=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4), st.integers(0, 6)), min_size=1, max_size=4),
)
@example(name="csv", packing="zip", harms=[(0.75, b"\0\0\0", 0), (0.8125, b"", 3)])  # a zip entry without a name
def test_a_damaged_file_is_read_or_refused(name: str, packing: str, harms: list[tuple[float, bytes, int]]) -> None:
    text = FORMATS[name].write(range(6), ["yes", "no", "red", "3", 'a "quoted", text', "x"])
    content = PACKINGS[packing](text.encode())
    for place, new, dropped in harms:
        at = int(place * len(content))
        content = content[:at] + new + content[at + dropped :]
    try:
        found = read(content, 6)
    except BadPredictions as error:
        assert str(error).endswith("Format: /docs/predictions/")
    else:
        assert len(found.codes) == 6


@settings(max_examples=proof.size(4000, name="prediction files made at random", most=100), deadline=None)
@given(content=st.binary(max_size=200) | st.text('[]{}:,"0123456789\n\\ \taequstion_id', max_size=60).map(str.encode))
def test_random_content_is_read_or_refused(content: bytes) -> None:
    for packed in PACKINGS.values():
        with suppress(BadPredictions):
            assert len(read(packed(content), 2).codes) == 2


@settings(max_examples=proof.size(1000), deadline=None)
@given(place=st.floats(0, 1), new=st.binary(min_size=1, max_size=3))
def test_members_of_a_damaged_zip_are_read_or_refused(place: float, new: bytes) -> None:
    content = bytearray(zipped(GOOD))
    at = 4 + int(place * (len(content) - 4))
    content[at : at + len(new)] = new
    try:
        for member in members(io.BytesIO(content)):
            read_predictions(member.open(), expected(N))
    except BadPredictions as error:
        assert "Format: /docs/predictions/" in str(error)


def test_an_error_of_the_disk_is_raised_unchanged() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        read_predictions(Broken(), expected(2))


def test_a_file_for_no_questions_needs_no_answers() -> None:
    assert len(read("[]", 0).codes) == 0
    assert "no question has the id 0" in str(refusal("yes\n", 0))
