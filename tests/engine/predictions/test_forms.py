"""Files of many forms: what is read for sure is read, and the rest is refused by what it is."""

import csv
import gzip
import io
import json
import pickle
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine.errors import BadPredictions
from generation.engine.predictions import decompression, read_predictions
from tests import proof
from tests.engine.predictions.asked import VOCABULARY, answers, expected, jsonl, read, refusal, right
from tests.engine.predictions.workbook_writer import parquet_of, xlsx
from tests.engine.predictions.written import zipped

YES = ["yes", "red"]  # the answers in the files that are read
ASKS = "Expected one column with the answers of the model, got"
NO_LINES = "expected one answer in each line, got"
A_TABLE = f"Line 1: {NO_LINES} a table without known names"
A_HEADING = f"Line 1: {NO_LINES} a heading"


def lines(*texts: str, end: str = "\n") -> str:
    return "".join(f"{text}{end}" for text in texts)


def rows(name: str = "question_id", said: str = "answer", **more: Any) -> list[dict[str, Any]]:
    return [{name: number, said: text, **more} for number, text in enumerate(YES)]


def batch(**changes: Any) -> str:
    """Return two lines of OpenAI's batch output; `changes` are those of the first one's response."""
    made = []
    for number, text in enumerate(YES):
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        response = {"status_code": 200, "request_id": "r", "body": {"id": "c", "choices": [choice]}}
        made.append({"id": f"batch_req_{9 - number}", "custom_id": f"q-{number}", "response": response, "error": None})
    made[0] |= changes
    return jsonl(made)


def responses_batch() -> str:
    made = []
    for number, text in enumerate(YES):
        said = [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": text}]}]
        body = {"status": "completed", "output": said}
        made.append({"custom_id": str(number), "response": {"status_code": 200, "body": body}, "error": None})
    return jsonl(made)


def claude_batch() -> str:
    made = []
    for number, text in enumerate(YES):
        message = {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
        made.append({"custom_id": f"{number}", "result": {"type": "succeeded", "message": message}})
    return jsonl(made)


def archive_of(**files: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def numpy_file() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


TABLE = lines("question_id,answer", "0,yes", "1,red")
KIT = [["index", "question", "A", "B", "answer", "prediction"], [0, "?", "yes", "no", "B", "A"],
       [1, "?", "blue", "red", "A", "red"]]  # fmt: skip
LLAVA = {"prompt": "Is there a cube?", "answer_id": "x", "model_id": "llava", "metadata": {}}
SAMPLES = [{"doc_id": at, "doc": {"answer": "no"}, "target": "no", "resps": [[text]], "filtered_resps": [text]}
           for at, text in enumerate(YES)]  # fmt: skip
READ: dict[str, tuple[bytes | str, str]] = {
    "a table": (TABLE, "csv"),
    "other capitals": (lines("Question ID,ANSWER", "0,yes", "1,red"), "csv"),
    "id and pred": (lines("id,pred", "0,yes", "1,red"), "csv"),
    "sep=;": (lines("sep=;", "question_id;answer", "0;yes", "1;red", end="\r\n"), "csv"),
    "commas at the ends": (lines("question_id,answer,,", "0,yes,,", "1,red,,"), "csv"),
    "commas at the ends of rows": (lines("question_id,answer", "0,yes,", "1,red,, "), "csv"),
    "semicolons at the ends of rows": (lines("question_id;answer", "0;yes;", "1;red;"), "csv"),
    "bars": (lines("question_id|answer", "0|yes", "1|red"), "csv"),
    "tabs": (lines("question_id\tresponse", "0\tyes", "1\tred"), "csv"),
    "comments before a table": (lines("# by me", "", "# today") + TABLE, "csv"),
    "names in a comment": (lines("# id,answer", "0,yes", "1,red"), "csv"),
    "comments before JSON lines": (lines("# by me") + jsonl(rows()), "jsonl"),
    "carriage returns": (TABLE.replace("\n", "\r"), "csv"),
    "carriage returns in JSON lines": (jsonl(rows()).replace("\n", "\r"), "jsonl"),
    "carriage returns in lines": ("yes\rred\r", "lines"),
    "UTF-16": (TABLE.encode("utf-16"), "csv"),
    "UTF-16 JSON": (json.dumps(rows()).encode("utf-16"), "json"),
    "a byte order mark": (b"\xef\xbb\xbf" + TABLE.encode(), "csv"),
    "ids of pandas": (lines("question_id,answer", "0.0,yes", "1.0,red"), "csv"),
    "ids of pandas in JSON": (jsonl([one | {"question_id": float(one["question_id"])} for one in rows()]), "jsonl"),
    "ids as texts in JSON": (jsonl([one | {"question_id": f"{one['question_id']}.0"} for one in rows()]), "jsonl"),
    "the index of pandas": (lines(",question_id,answer", "7,0,yes", "8,1,red"), "csv"),
    "cells in quotes": (lines('"question_id","answer"', '"0","yes"', '"1","red"'), "csv"),
    "LLaVA": (jsonl(rows(said="text", **LLAVA)), "jsonl"),
    "LLaVA converted": (json.dumps(rows()), "json"),
    "lmms-eval": (jsonl(SAMPLES), "lmms-eval"),
    "lmms-eval without filters": (jsonl([{"doc_id": at, "resps": [[YES[at]]]} for at in (0, 1)]), "lmms-eval"),
    "OpenAI's batch": (batch(), "openai-batch"),
    "OpenAI's batch of responses": (responses_batch(), "openai-batch"),
    "Anthropic's batch": (claude_batch(), "anthropic-batch"),
    "VLMEvalKit's tsv": ("".join("\t".join(map(str, row)) + "\n" for row in KIT), "vlmevalkit-tsv"),
    "VLMEvalKit's xlsx": (xlsx(KIT), "vlmevalkit-xlsx"),
    "a workbook with texts in its cells": (xlsx(KIT, shared=False), "vlmevalkit-xlsx"),
    "a workbook with an empty sheet": (xlsx(KIT, []), "vlmevalkit-xlsx"),
    "a workbook in gzip": (gzip.compress(xlsx(KIT)), "vlmevalkit-xlsx"),
    "a workbook in a zip": (zipped(xlsx(KIT)), "vlmevalkit-xlsx"),
    "Parquet": (parquet_of({"question_id": [0, 1], "image": [b"\x89", b"\x89"], "response": YES}), "parquet"),
    "Parquet in gzip": (gzip.compress(parquet_of({"id": [0, 1], "answer": YES})), "parquet"),
    "a truth beside the reply": (jsonl(rows(said="response", ground_truth="no", label="no")), "jsonl"),
    "an answer beside the truth": (jsonl(rows(gt="no", target="no", annotation="no")), "jsonl"),
    "figures about the reply": (jsonl(rows(response_time=0.3, output_tokens=7, prediction_score=1)), "jsonl"),
    "outputs of vLLM": (jsonl([{"id": at, "outputs": [{"text": text}]} for at, text in enumerate(YES)]), "jsonl"),
    "an object of objects": (json.dumps({str(at): {"response": text} for at, text in enumerate(YES)}), "json-object"),
    "plain lines": (lines(*YES), "lines"),
}  # fmt: skip
REPLIES = ("response", "output", "prediction", "model_answer", "generated_text", "pred", "resps", "filtered_resps",
           "text", "Model Response", "qwen2_output", "finalAnswer", "predicted_answer", "completion")  # fmt: skip
REFUSED: dict[str, tuple[bytes | str, str]] = {
    **{f"answer and {name}": (jsonl(rows(**{name: "purple"})), f"{ASKS} 'answer' and '{name}'") for name in REPLIES},
    "two replies": (jsonl(rows(said="response", output="no")), f"{ASKS} 'response' and 'output'"),
    "answer and response in a table": (lines("id,answer,response", "0,yes,no"), f"{ASKS} 'answer' and 'response'"),
    "answer and response in a workbook": (xlsx([["id", "answer", "response"], [0, "yes", "no"]]), ASKS),
    "answer and response in Parquet": (parquet_of({"id": [0, 1], "answer": YES, "response": YES}), ASKS),
    "answer and output in an object": (json.dumps({"0": {"answer": "yes", "output": "no"}}), ASKS),
    "a nested reply": (jsonl(rows(model={"response": "no"})), f"{ASKS} 'answer' and 'model.response'"),
    "a reply in the second line": (jsonl([rows()[0], rows(output="no")[1]]), f"{ASKS} 'answer' and 'output'"),
    "several replies": (jsonl([{"id": 0, "choices": [{"content": "a"}, {"content": "b"}]}]),
                        'Line 1: expected "question_id" and "answer", got \'id\', \'choices\''),
    "only the truth": (jsonl(rows(said="label")), "Line 1: expected \"question_id\" and \"answer\", got 'question_id'"),
    "questions of LLaVA": (jsonl(rows(said="text", image="a.png")), 'Line 1: expected "question_id" and "answer"'),
    "two columns of ids": (jsonl([{"index": 1 - at, "id": at, "answer": "no"} for at in (0, 1)]),
                           "Expected one column of ids, got 'index' and 'id' with different numbers"),
    "log-likelihoods": (jsonl([{"doc_id": 0, "resps": [[["-0.5", "False"]]]}]), "Expected 2 answers, got 1"),
    "a table without names": (lines("0,no", "1,red"), A_TABLE),
    "the same with tabs": (lines("0\tno", "1\tred"), A_TABLE),
    "the same in quotes": (lines('"0","no"', '"1","red"'), A_TABLE),
    "the same as tuples": (lines("(0, 'no')", "(1, 'red')"), A_TABLE),
    "answers before ids": (lines("no,0", "red,1"), A_TABLE),
    "answers and scores": (lines("no,0.9", "red,0.9"), A_TABLE),
    "unknown names": (lines("foo,bar", "0,no"), A_TABLE),
    "a list with numbers": (lines("1. no", "2. red"), A_TABLE),
    "YAML": (lines("0: no", "1: red"), A_TABLE),
    "a missing row": (lines("id,pred", "0,yes"), "Expected 2 answers, got 1 (1 missing). Question 1 has no answer"),
    "a name alone": (lines("answer", "yes"), A_HEADING),
    "a heading": (lines("My results:", "yes"), A_HEADING),
    "spaces between names": (lines("question_id answer", "0 yes"), A_HEADING),
    "a third value": (lines("id,answer", "0,yes", "1,,red"), "Expected 2 answers, got 2 (1 missing, 1 malformed)"),
    "sep=; without names": (lines("sep=;", "0;yes"), "Line 1: expected known names of columns after sep=;"),
    "a comment in lines": (lines("yes", "# no more"), f"Line 2: {NO_LINES} a comment"),
    "a comment before a list": (lines("# by me") + json.dumps(rows()), "Line 1: expected JSON, got a comment"),
    "a fence": (lines("```", "yes", "red", "```"), "Line 1: expected predictions, got a fenced block of Markdown"),
    "a fence after words": (lines("Here:", "```json"), A_HEADING),
    "a fence in lines": (lines("yes", "```"), f"Line 2: {NO_LINES} a fence of Markdown"),
    "a rule": (lines("yes", "-----"), f"Line 2: {NO_LINES} '-----'"),
    "a conflict of git": (lines("yes", ">>>>>>> main"), f"Line 2: {NO_LINES} '>>>>>>> main'"),
    "JSON after words": (lines("Sure", '{"question_id": 0}'), f"Line 2: {NO_LINES} JSON"),
    "a table of Markdown": (lines("| id | answer |", "|---|---|"), "Line 1: expected predictions, got a table of"),
    "a drawn table": (lines("+----+----+", "| id | answer |"), "Line 1: expected predictions, got a drawn table"),
    "Git LFS": (lines("version https://git-lfs.github.com/spec/v1", "oid sha256:0", "size 9"),
                "Line 1: expected predictions, got a pointer file of Git LFS, not the file itself: run git lfs pull"),
    "git-annex": (".git/annex/objects/x", "Line 1: expected predictions, got a pointer of git-annex"),
    "DVC": (lines("outs:", "- md5: 0"), "Line 1: expected predictions, got a pointer file of DVC"),
    "a page": (lines("<!DOCTYPE html>", "<html>"), "Line 1: expected predictions, got an HTML page"),
    "both line ends": ("yes\r" * 40_000 + "red\n", "Expected one kind of line ends"),
    "a return within a line": (lines("yes\rno", "red"), f"Line 1: {NO_LINES} another end of a line"),
    "UTF-16 without a mark": (TABLE.encode("utf-16-le"), "Line 1: expected text, got UTF-16 text without its mark"),
    "a text in JSON": (json.dumps(TABLE), "Line 1: expected predictions, got a text within JSON"),
    "a table in JSON": (json.dumps({"csv": TABLE}), "Expected 2 answers, got 1"),
    "columns of pandas": (json.dumps({"question_id": {"0": 0}, "answer": {"0": "yes"}}),
                          "Expected records or an object that maps ids to answers, got a table by columns"),
    "a list within an object": (json.dumps({"model": "x", "results": rows()}),
                                "Expected records or an object that maps ids to answers, got an object with a list"),
    "a column twice": (lines("id,answer,answer", "0,yes,no"), "Line 1: expected every column once, got 'answer' twice"),
    "a pickle": (pickle.dumps([1]), "Expected predictions, got a pickle"),
    "an old pickle": (pickle.dumps([1], protocol=0), "Expected predictions, got a pickle"),
    "PyTorch": (archive_of(data__pkl=b"x", version=b"3"), "Expected predictions, got a pickle"),
    "NumPy": (numpy_file(), "Expected predictions, got a file of NumPy"),
    "several arrays": (archive_of(a__npy=b"x", b__npy=b"x"), "Expected predictions, got a file of NumPy"),
    "PDF": (b"%PDF-1.7\n", "Expected predictions, got a PDF document"),
    "SQLite": (b"SQLite format 3\0", "Expected predictions, got a database of SQLite"),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1", "Expected predictions, got an old Office document"),
    "two sheets": (xlsx(KIT, KIT), "Expected a workbook with one sheet, got 2 ('Sheet1', 'Sheet2')"),
    "an empty workbook": (xlsx([]), "Expected predictions, got an empty workbook"),
    "a broken workbook": (xlsx(KIT, more={"xl/worksheets/sheet1.xml": "<a><b>"}), "Expected a workbook, got a broken"),
    "entities": (xlsx(KIT, more={"xl/sharedStrings.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}),
                 "Expected a workbook, got one with a document type"),
    "broken Parquet": (b"PAR1" + bytes(20), "Expected a Parquet file, got a broken one"),
}  # fmt: skip


def test_each_file_is_read_or_refused_as_the_table_says() -> None:
    wrong = {}
    for name, (content, form) in READ.items():
        try:
            found = read(content, 2)
        except BadPredictions as error:
            wrong[name] = str(error)
            continue
        said = [VOCABULARY[code] if code >= 0 else "" for code in found.codes]
        if (found.format, said) != (form, YES):
            wrong[name] = f"{found.format}, {said}"
    for name, (content, start) in REFUSED.items():
        try:
            wrong[name] = f"read as {read(content, 2).format}"
        except BadPredictions as error:
            if not error.reason.startswith(start):
                wrong[name] = str(error)
    assert wrong == {}
    assert len(READ) + len(REFUSED) >= 100


@pytest.mark.parametrize(
    "response",
    [
        {"response": None, "error": {"code": "expired"}},
        {"response": {"status_code": 400, "body": {"error": {"message": "no"}}}},
        {"response": {"body": {"choices": [{"message": {"content": "re"}, "finish_reason": "length"}]}}},
        {"response": {"body": {"choices": [{"message": {"content": "no", "refusal": "I cannot"}}]}}},
    ],
)  # fmt: skip
def test_a_failed_cut_or_refused_reply_of_a_batch_is_no_answer(response: dict[str, Any]) -> None:
    assert answers(read(batch(**response), 2)) == ["", "red"]


def test_the_named_column_has_the_answers() -> None:
    asked = expected(2)
    for name, content in {
        "response": jsonl(rows(said="response", answer="no")),
        "Response": jsonl(rows(said="response", answer="no")),
        "model.response": jsonl(
            [{"id": at, "answer": "no", "model": {"response": text}} for at, text in enumerate(YES)]
        ),
        "answer": jsonl(rows(output="no")),
        "resps": jsonl(SAMPLES),
        "qwen": lines("nr,id,qwen", "4,0,yes", "5,1,red"),
        "label": xlsx([["id", "answer", "label"], [0, "no", "yes"], [1, "no", "red"]]),
    }.items():
        data = content if isinstance(content, bytes) else content.encode()
        assert answers(read_predictions(io.BytesIO(data), asked, column=name)) == YES
    for content, says in ((jsonl(rows()), "the column 'other', got 'question_id'"), ("yes\nred\n", "without columns")):
        with pytest.raises(BadPredictions, match=says):
            read_predictions(io.BytesIO(content.encode()), asked, column="other")


def test_the_error_names_the_columns_to_choose_from() -> None:
    assert refusal(jsonl(rows(output="x")), 2).columns == ("answer", "output")
    assert refusal(jsonl(rows(said="qwen")), 2).columns == ("qwen",)


def test_the_exact_truth_beside_an_unknown_column_is_not_scored() -> None:
    truth = np.array([VOCABULARY.index(text) for text in YES])
    asked = replace(expected(2), truth=truth, exported=frozenset({"facet_shape"}))
    for more, is_refused in (
        ({"qwen": "no"}, True),
        ({"facet_shape": "x", "question": "?", "model": "m"}, False),
        (
            {"state": "answered", "run": "1"},
            False,  # as `ask.py` writes them
        ),
    ):
        content = io.BytesIO(jsonl(rows(**more)).encode())
        if is_refused:
            with pytest.raises(BadPredictions, match="got 'answer' and 'qwen'"):
                read_predictions(content, asked)
        else:
            assert answers(read_predictions(content, asked)) == YES
    others = jsonl([rows(qwen="no")[0], rows(qwen="no")[1] | {"answer": "blue"}])
    assert answers(read_predictions(io.BytesIO(others.encode()), asked)) == ["yes", "blue"]


def test_a_workbook_may_not_unpack_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    content = xlsx([["id", "answer"], *([at, "x" * 1000] for at in range(2000))])
    monkeypatch.setattr(decompression, "LEAST_ROOM", 1 << 20)
    assert "Expected at most 1 MB in xl/sharedStrings.xml, got more" in str(refusal(content, 2))


def as_table(delimiter: str, **style: Any) -> Callable[[Sequence[int], Sequence[str]], bytes | str]:
    def write(ids: Sequence[int], said: Sequence[str]) -> str:
        file = io.StringIO()
        writer = csv.writer(file, delimiter=delimiter, **style)
        writer.writerows([("question_id", "answer"), *zip(ids, said, strict=True)])
        return file.getvalue()

    return write


def pair_rows(ids: Sequence[int], said: Sequence[str]) -> list[dict[str, Any]]:
    return [{"id": one, "response": text} for one, text in zip(ids, said, strict=True)]


WRITERS: dict[str, Callable[[Sequence[int], Sequence[str]], bytes | str]] = {
    "json": lambda ids, said: json.dumps(pair_rows(ids, said)),
    "jsonl": lambda ids, said: jsonl(pair_rows(ids, said)),
    "object": lambda ids, said: json.dumps(dict(zip(map(str, ids), said, strict=True))),
    **{delimiter: as_table(delimiter) for delimiter in (",", ";", "\t", "|")},
    "sep": lambda ids, said: f"sep=;\r\n{as_table(';')(ids, said)!s}",
    "quoted": as_table(",", quoting=csv.QUOTE_ALL, lineterminator="\r"),
    "UTF-16": lambda ids, said: str(as_table("\t")(ids, said)).encode("utf-16"),
    "xlsx": lambda ids, said: xlsx([("id", "pred"), *zip(ids, said, strict=True)]),
    "parquet": lambda ids, said: parquet_of({"index": list(ids), "answer": list(said)}),
    "lines": lambda ids, said: lines(*[said[ids.index(one)] for one in sorted(ids)]),
    "table without names": lambda ids, said: lines(*[f"{one},{text}" for one, text in zip(ids, said, strict=True)]),
    "name and lines": lambda ids, said: lines("qwen", *said),
}
NEVER = {"table without names", "name and lines"}


@settings(max_examples=proof.size(600), deadline=None)
@given(data=st.data(), form=st.sampled_from(sorted(WRITERS)), n=st.integers(5, 9))
def test_a_table_of_any_form_is_read_exactly_and_a_missing_row_moves_no_answer(
    data: st.DataObject, form: str, n: int
) -> None:
    ids, said = data.draw(st.permutations(range(n))), right(n)
    full = WRITERS[form](ids, [said[one] for one in ids])
    if form not in NEVER:
        assert answers(read(full, n)) == said
    drop = data.draw(st.integers(0, n - 1))
    kept = [one for one in ids if one != drop]
    error = refusal(WRITERS[form](kept, [said[one] for one in kept]), n)
    if form not in {*NEVER, "lines"}:
        assert f"Question {drop} has no answer." in str(error)
