"""Prediction files of every format, compared with slow and obvious readers."""

import gzip
import io
import json
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.errors import BadPredictions
from generation.engine.predictions import (
    decompression,
    members,
    packed_predictions,
    read_predictions,
    template,
)
from generation.engine.predictions.expected_answers import ExpectedAnswers
from generation.engine.predictions.findings import Findings
from generation.engine.predictions.forms import rows
from generation.engine.predictions.packed_predictions import TextBuffer
from generation.engine.scoring.score import OUTSIDE
from tests import proof
from tests.engine.predictions.asked import (
    SOURCES,
    VOCABULARY,
    answers,
    expected,
    jsonl,
    read,
    refusal,
    right,
)
from tests.engine.predictions.written import FORMATS, PACKINGS, zipped

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
TEXTS = (
    st.sampled_from(VOCABULARY)
    | st.sampled_from(["Yes", " NO ", "light  Blue", "3.0", "Three", "true", "False", "11", "twelve", "=1+2", ""])
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), max_size=6)
)
IN_LINES = TEXTS.filter(lambda text: text.isprintable() and not set("#/`~-=_*+|:<>{%\t,;").intersection(text))
TYPED = TEXTS | st.booleans() | st.integers(-3, 12) | st.sampled_from([3.0, 10.0, 2.5])


def find_answer(text: str) -> str | None:
    """Return the answer with a spelling that equals the text, found by comparing all of them; None if there is none."""
    said = " ".join(text.split()).casefold()
    if said.endswith(".0") and said[:-2].lstrip("+-").isdecimal() and said.isascii():
        said = said[:-2]
    for answer in VOCABULARY:
        ways = [answer]
        ways += ["true"] * (answer == "yes") + ["false"] * (answer == "no")
        ways += [WORDS[int(answer)]] if answer.isdecimal() else []
        if said in ways or text == answer:
            return answer
    return None


@settings(max_examples=proof.size(3000, name="prediction files beside obvious readers"), deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(FORMATS)), packing=st.sampled_from(sorted(PACKINGS)))
def test_files_are_read_as_an_obvious_reader_reads_them(data: st.DataObject, name: str, packing: str) -> None:
    form = FORMATS[name]
    said = data.draw(st.lists(TYPED if form.typed else TEXTS, min_size=1, max_size=8))
    order = data.draw(st.permutations(range(len(said))))
    text = form.write(order, [said[number] for number in order])
    sources = data.draw(st.booleans())
    mark = b"\xef\xbb\xbf" if data.draw(st.booleans()) else b""
    found = read(PACKINGS[packing](mark + text.encode()), len(said), sources=sources)
    obvious = {int(one): answer for one, answer in form.read(text)}
    assert answers(found) == [find_answer(obvious[number]) or obvious[number] for number in range(len(said))]
    assert (found.format, found.packing) == (name.partition(" ")[0], packing)
    assert list(found.outside) == np.flatnonzero(found.codes == OUTSIDE).tolist()
    assert (found.read[found.codes >= 0] == found.codes[found.codes >= 0]).all()


@settings(max_examples=proof.size(500), deadline=None)
@given(said=st.lists(IN_LINES, min_size=2, max_size=8), end=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
def test_lines_are_answers_in_question_order(said: list[str], end: str, last: bool) -> None:
    said = ["no", *said[:-1], "yes"]
    found = read(end.join(said) + (end if last else ""), len(said))
    assert answers(found) == [find_answer(one) or one for one in said]
    assert found.format == "lines"


def test_empty_lines_after_the_last_answer_are_ignored() -> None:
    assert answers(read("yes\n\n3\n\n\n\n", 4)) == ["yes", "", "3", ""]
    assert "Line 6: no question has the id 5. Format" in str(refusal("yes\n\n3\n\n\nx\n", 4))


@pytest.mark.parametrize("size", [1, 7, 64, 4096])
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_size_of_the_pieces_of_a_file_does_not_matter(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ["a wörd", *right(30)[1:]]
    content = FORMATS[name].write(range(30), said).encode()
    monkeypatch.setattr(decompression, "PIECE", size)
    monkeypatch.setattr(rows, "PIECE", size)
    monkeypatch.setattr(rows, "MANY", 1 + size // 8)
    for pack in PACKINGS.values():
        assert answers(read(pack(content), 30)) == said


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_questions_may_have_their_published_names(name: str) -> None:
    said = right(40)
    found = read(FORMATS[name].write(SOURCES[:40], said), 40, sources=True)
    assert answers(found) == said


def renumbered_questions() -> Any:
    """Return five questions. The published name of each is the position of another one."""
    asked = expected(5)
    names = np.array([b"4", b"3", b"2", b"1", b"0"])
    return ExpectedAnswers(asked.name, 5, asked.vocabulary, names, asked.kinds, asked.admitted)


@pytest.mark.parametrize(
    ("name", "is_published"), [("question_id", False), ("question_index", True), ("questionId", True)]
)
def test_the_name_of_the_id_field_decides_whether_ids_are_published_names(name: str, is_published: bool) -> None:
    said = ["yes", "no", "red", "cube", "3"]
    content = jsonl([{name: number, "answer": answer} for number, answer in enumerate(said)])
    found = read_predictions(io.BytesIO(content.encode()), renumbered_questions())
    assert answers(found) == (said[::-1] if is_published else said)


def test_published_names_that_occur_twice_are_not_accepted() -> None:
    asked = expected(3)
    names = np.array([b"a", b"a", b""])
    twice = ExpectedAnswers(asked.name, 3, asked.vocabulary, names, asked.kinds, asked.admitted)
    with pytest.raises(BadPredictions, match="no question has the id 'a'"):
        read_predictions(io.BytesIO(b'{"a": "yes", "1": "no", "2": "red"}'), twice)
    assert answers(read_predictions(io.BytesIO(b'{"0": "yes", "1": "no", "2": "red"}'), twice)) == ["yes", "no", "red"]


def test_a_letter_is_read_as_the_choice_in_its_row() -> None:
    table = (
        "index\tquestion\tA\tB\tC\tanswer\tprediction\n"
        "0\tIs there?\tno\tyes\t\tA\tB\n"
        "1\tWhich colour?\tblue\tred\tlight blue\tA\t(C)\n"
        "2\tWhich shape?\tcube\tsphere\t\tA\tThe answer is: B.\n"
        "3\tHow many?\t0\t1\t2\tA\tC. 2\n"
    )
    found = read(table)
    assert answers(found) == ["yes", "light blue", "The answer is: B.", "C. 2"]
    assert [VOCABULARY[code] for code in found.read] == ["yes", "light blue", "sphere", "2"]
    names, *cells = [line.split("\t") for line in table.strip().split("\n")]
    as_json = json.dumps([dict(zip(names, row, strict=True)) for row in cells]).replace('"C": ""', '"C": NaN')
    assert (read(as_json).read == found.read).all()
    assert read(as_json).format == "vlmevalkit-json"


def test_the_true_answer_next_to_a_prediction_is_not_read() -> None:
    rows_of_it = [{"index": number, "answer": "yes", "prediction": "no"} for number in range(3)]
    assert answers(read(jsonl(rows_of_it), 3)) == ["no"] * 3


def test_free_text_is_read_by_the_kind_of_its_question() -> None:
    said = "There are 3 red cubes."
    found = read(jsonl([{"question_id": number, "answer": said} for number in range(4)]))
    assert found.codes.tolist() == [OUTSIDE] * 4
    assert found.read.tolist() == [OUTSIDE, VOCABULARY.index("red"), OUTSIDE, VOCABULARY.index("3")]
    assert dict(found.outside) == dict.fromkeys(range(4), said)


def test_null_is_read_as_an_empty_answer() -> None:
    found = read('{"0": "yes", "1": null}', 2)
    assert (answers(found), found.read.tolist()) == (["yes", ""], [0, OUTSIDE])


def test_long_texts_are_read_completely_and_stored_in_part() -> None:
    said = f"{'well, ' * 2000} answer: blue"
    found = read(jsonl([{"question_id": 0, "answer": "yes"}, {"question_id": 1, "answer": said}]), 2)
    assert VOCABULARY[found.read[1]] == "blue"
    assert found.outside[1] == said[:2000]


def test_missing_duplicate_unknown_and_malformed_answers_are_named_with_their_lines() -> None:
    error = refusal(jsonl([{"question_id": one, "answer": "yes"} for one in (0, 2, 0, 9, "x\n")]) + "{\n")
    assert str(error) == (
        "riddles/val: Expected 4 answers, got 6 (2 missing, 1 duplicate, 2 unknown, 1 malformed). "
        "Line 3: question 0 is answered again; the first answer is in line 1. Line 4: no question has the id 9. "
        r"Line 5: no question has the id 'x\n'. "
        "Line 6: expected JSON, got something else (Expecting property name enclosed in double quotes). "
        "Questions 1, 3 have no answer. Format: /docs/predictions/"
    )
    assert error.findings is not None
    assert error.findings.counts == {"missing": 2, "duplicate": 1, "unknown": 2, "malformed": 1}


def test_spaces_around_an_id_are_ignored() -> None:
    assert answers(read("question_id , answer\n 0, yes\n1 , no\n", 2)) == ["yes", "no"]
    said = right(2)
    assert (
        answers(read(f"question_id,answer\n {SOURCES[0]},{said[0]}\n{SOURCES[1]} ,{said[1]}", 2, sources=True)) == said
    )


def test_a_range_of_missing_questions_is_named_as_one_gap() -> None:
    error = refusal("yes\n" * 150, 200)
    assert str(error) == (
        "riddles/val: Expected 200 answers, got 150 (50 missing). Questions 150–199 have no answer. "
        "Format: /docs/predictions/"
    )
    assert error.findings is not None
    assert list(error.findings.lines()) == ["Questions 150–199 have no answer."]


def test_the_message_names_twenty_gaps_and_the_findings_name_all() -> None:
    answered = [*range(0, 100, 2), *range(110, 200)]
    error = refusal(jsonl([{"question_id": one, "answer": "yes"} for one in answered]), 200)
    named = ", ".join(map(str, range(1, 41, 2)))
    assert f"(60 missing). Questions {named} have no answer. And 40 more. Format" in str(error)
    assert error.findings is not None
    single = [f"Question {number} has no answer." for number in range(1, 99, 2)]
    assert list(error.findings.lines()) == [*single, "Questions 99–109 have no answer."]


def test_errors_in_the_file_are_named_before_missing_answers() -> None:
    lines = [{"question_id": one, "answer": "yes"} for one in [*range(50), *range(300, 325)]]
    error = refusal(jsonl(lines), 100)
    assert "Line 70: no question has the id 319. And 55 more. Format" in str(error)
    assert error.findings is not None
    assert list(error.findings.lines())[-1] == "Questions 50–99 have no answer."


def test_published_names_are_joined_to_a_gap_only_if_they_are_consecutive_numbers() -> None:
    names = np.array([b"7", b"8", b"9", b"20", b"21", b"30"])
    missing = np.arange(1, 6, dtype=np.int32)
    assert (
        Findings(missing=missing, names=names)
        .message(expected=6, got=1)
        .startswith("Expected 6 answers, got 1 (5 missing). Questions 8–9, 20–21, 30 have no answer.")
    )
    words = np.array([b"a1", b"a2", b"a3"])
    assert list(Findings(missing=np.arange(3, dtype=np.int32), names=words).lines()) == [
        f"Question a{number} has no answer." for number in (1, 2, 3)
    ]


@settings(max_examples=proof.size(500), deadline=None)
@given(ids=st.lists(st.integers(-2, 12), max_size=14), sources=st.booleans())
def test_every_row_is_counted(ids: list[int], sources: bool) -> None:
    names = [SOURCES[one] if sources and one >= 0 else one for one in ids]
    content = "question_id,answer\n" + "".join(f"{name},yes\n" for name in names)
    known = [one for one in ids if 0 <= one < 10]
    missing = 10 - len(set(known))
    if not missing and len(ids) == 10:
        assert answers(read(content, 10, sources=sources)) == ["yes"] * 10
        return
    found = refusal(content, 10, sources=sources).findings
    assert found is not None
    counts = {"missing": missing, "duplicate": len(known) - len(set(known)), "unknown": len(ids) - len(known)}
    if known or not sources:
        assert found.counts == {kind: count for kind, count in counts.items() if count}


@pytest.mark.parametrize("name", ["json", "jsonl", "csv"])
@pytest.mark.parametrize("n", [1, 30])
def test_a_template_becomes_valid_when_its_answers_are_filled_in(name: str, n: int) -> None:
    content = b"".join(template(expected(n), name))
    found = read(content, n)
    assert (answers(found), found.format) == ([""] * n, name)
    for answer in right(n):
        content = content.replace(b'""', json.dumps(answer).encode(), 1)
    if name.startswith("json"):
        assert answers(read(content, n)) == right(n)


def test_there_is_no_template_in_the_format_of_another_tool() -> None:
    with pytest.raises(BadPredictions, match="Expected one of json, jsonl, csv, got 'lmms-eval'"):
        list(template(expected(1), "lmms-eval"))


def test_an_upload_may_contain_several_files() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("all/val.jsonl", jsonl([{"question_id": 0, "answer": "yes"}]))
        archive.writestr("all/test.csv.gz", gzip.compress(b"question_id,answer\n0,no\n"))
        archive.writestr("__MACOSX/all/._val.jsonl", b"\0")
    found = members(file)
    assert [one.name for one in found] == ["val.jsonl", "test.csv.gz"]
    said = [read_predictions(one.open(), expected(1)) for one in found]
    assert [answers(one) for one in said] == [["yes"], ["no"]]
    assert [(one.format, one.packing) for one in said] == [("jsonl", ""), ("csv", "gzip")]
    assert "Expected one file in the zip, got 2 (val.jsonl, test.csv.gz)" in str(refusal(file.getvalue(), 1))


def test_an_upload_that_is_no_zip_is_a_single_file() -> None:
    content = b"yes\nno\n"
    (found,) = members(io.BytesIO(content))
    assert (found.name, found.open().read(), found.open().read()) == ("", content, content)


def test_a_zip_within_a_zip_is_refused() -> None:
    (inner,) = members(io.BytesIO(zipped(zipped(b"yes\n"))))
    with pytest.raises(BadPredictions, match="got another zip"):
        read_predictions(inner.open(), expected(1))


@settings(max_examples=proof.size(1000))
@given(texts=st.dictionaries(st.integers(0, 500), st.text(st.characters(exclude_categories=["Cs"]), max_size=5)))
def test_the_text_buffer_returns_the_texts_of_a_dictionary(texts: dict[int, str]) -> None:
    gathered = TextBuffer()
    for row, text in enumerate(texts.values()):
        gathered.add(row, text)
    found = gathered.by(np.array(list(texts), np.int32))
    assert list(found.items()) == sorted(texts.items())
    assert [position in found for position in range(502)] == [position in texts for position in range(502)]


def test_after_a_limit_only_the_beginnings_of_texts_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_predictions, "ROOM", 300)
    found = read("\n".join(["x" * 200] * 3), 3)
    assert [len(text) for text in found.outside.values()] == [200, 200, 50]
