"""The page about predictions: the site's code reads its examples, and its names and limits are those of the code."""

import gzip
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from generation.engine.predictions import BadPredictions, decompression, read_predictions
from generation.engine.predictions.forms import column_names, rows
from generation.engine.predictions.matching import EXTRA, LARGEST_NUMBER
from generation.engine.predictions.predicted_boxes import MOST_BOXES, MOST_IN_FILE
from generation.engine.replies.vocabulary import NUMBERS
from generation.exchange import prediction_files
from tests.engine.predictions import counting
from tests.engine.predictions.asked import KINDS, VOCABULARY, expected
from tests.engine.replies.test_corpus import CORPORA
from tests.engine.replies.worlds import read_corpus, reader_of
from tests.webapp.test_docs import Block, blocks
from webapp import documentation
from webapp.leaderboards import uploads

FORMATS = {
    "answers.jsonl": "jsonl",
    "answers.json": "json",
    "object.json": "json-object",
    "answers.csv": "csv",
    "answers.txt": "lines",
    "samples.jsonl": "lmms-eval",
    "kit.tsv": "vlmevalkit-tsv",
    "kit.json": "vlmevalkit-json",
    "llava.jsonl": "jsonl",
    "batch.jsonl": "openai-batch",
}


def examples() -> list[Block]:
    return [block for block in blocks("predictions") if block.file is not None]


def test_every_format_has_an_example() -> None:
    assert [block.file for block in examples()] == list(FORMATS)


@pytest.mark.parametrize("example", examples(), ids=lambda block: block.file)
def test_the_example_of_a_format_is_read_in_this_format(example: Block) -> None:
    content = example.body.encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"folder/{example.file}", content)
    for file in (content, gzip.compress(content), packed.getvalue()):
        found = read_predictions(io.BytesIO(file), expected(4))
        assert found.format == FORMATS[str(example.file)]
        assert [VOCABULARY[code] for code in found.codes] == ["yes", "red", "cube", "3"]


def test_files_in_the_table_of_refusals_are_read_or_refused_as_it_says() -> None:
    section = documentation.source("predictions").partition("\n## What is refused\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\| [^|]+ \| `(.+)` \| (.+) \|$", section.replace("\\|", "¦"), re.MULTILINE)
    assert len(told) == 19
    for text, says in told:
        content = text.strip().replace("⏎", "\n").replace("¦", "|").encode()
        if says == "is read":
            assert [VOCABULARY[code] for code in read_predictions(io.BytesIO(content), expected(2)).codes] == [
                "yes",
                "red",
            ]
        else:
            with pytest.raises(BadPredictions, match=re.escape(says)):
                read_predictions(io.BytesIO(content), expected(2))


def test_the_example_with_numbers_and_boxes_is_read() -> None:
    section = documentation.source("predictions").partition("\n## Numbers and boxes\n")[2].partition("\n## ")[0]
    lines = section.partition("```json\n")[2].partition("```")[0]
    found = read_predictions(io.BytesIO(lines.encode()), counting.expected(3, sizes=[(120, 92)] * 3))
    assert found.numbers is not None and found.boxes is not None
    assert (found.numbers.tolist(), found.codes.tolist()) == ([2.7, -0.1, 3], [3, 0, 3])
    assert found.boxes.starts.tolist() == [0, 2, 2, 2]
    [text] = re.findall(r"`(\{\"0\": .+?\})`", section)
    as_object = read_predictions(io.BytesIO(text.encode()), counting.expected(2))
    assert as_object.boxes is not None and as_object.boxes.starts.tolist() == [0, 1, 1]


def test_the_example_that_writes_json_writes_predictions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = documentation.source("predictions").partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(program)
    with (tmp_path / "predictions.json").open("rb") as file:
        found = read_predictions(file, counting.expected(1))
    assert found.boxes is not None and found.boxes.boxes.tolist() == [[12, 30.5, 64, 92]]


def rows_below(heading: str, meant: str) -> list[tuple[str, str]]:
    """Return the texts in a table, and what they mean."""
    table = documentation.source("predictions").partition(f"| {heading} |")[2].partition("\n\n")[0]
    return re.findall(rf"^\| `(.+)` \| {meant} \|$", table, re.MULTILINE)


def test_texts_in_the_table_of_lists_are_read_as_it_says() -> None:
    told = rows_below("text for a question about a list of apple, football and milk", "(?:`(.+)`|nothing is read)")
    assert len(told) == 13
    for text, answer in told:
        assert (reader_of("babi").read(text.replace("⏎", "\n"), "lists-sets") or "") == answer, text


def test_texts_in_the_table_of_free_text_are_read_as_it_says() -> None:
    told = rows_below("text for a question about a colour", r"(?:`(\w+)`|nothing)")
    assert len(told) == 24
    asked = expected(4)
    for text, answer in told:
        content = json.dumps({"0": "yes", "1": text, "2": "cube", "3": "3"}).encode()
        code = read_predictions(io.BytesIO(content), asked).read[list(KINDS).index("color")]
        assert (VOCABULARY[code] if code >= 0 else "") == answer


def test_names_and_limits_are_those_of_the_code() -> None:
    text = " ".join(documentation.source("predictions").split())
    ids = [f"`{name}`" for name in column_names.IDS]
    assert f"The id is in the column {', '.join(ids[:-1])} or {ids[-1]}." in text
    listed = text.partition("one that looks like the reply of a model: ")[2].partition(", and names with")[0]
    for name in [*re.findall("`(.+?)`", listed), "qwen_output"]:
        assert column_names.is_reply(name)
    for name in ("target", "ground_truth", "gt", "label"):
        assert f"`{name}`" in text and not column_names.is_reply(name) and not column_names.is_answer(name)
    assert f"A row has at most {rows.LONGEST:,} characters" in text
    assert (
        f"{decompression.LEAST_ROOM >> 20} MB of text, plus {decompression.EACH_ROOM:,} bytes for each question" in text
    )
    assert f"({decompression.BOXED_ROOM:,} if predictions may have boxes)" in text
    assert f"between -{LARGEST_NUMBER:,} and {LARGEST_NUMBER:,}" in text
    assert f"at most {MOST_BOXES:,} boxes, and a file at most {MOST_IN_FILE:,}" in text
    assert f"{decompression.RATIO} for each compressed byte, at most {decompression.LARGEST >> 20:,} MB" in text
    assert f"{prediction_files.SECONDS} seconds of processor time plus one for each 2 MB" in text
    assert f"one for each {prediction_files.QUESTIONS_A_SECOND:,} questions" in text
    assert f"a check on a page may take at most {uploads.LONGEST_CHECK:g} seconds" in text
    assert f"if a file has {EXTRA:,} more rows than questions" in text
    assert f"`{NUMBERS.split()[0]}` to `{NUMBERS.split()[-1]}`" in text


def test_the_number_of_labelled_replies_is_that_of_the_corpus() -> None:
    count = sum(len(read_corpus(name)) for name in CORPORA)
    assert f"of {count:,} labelled replies" in " ".join(documentation.source("predictions").split())
