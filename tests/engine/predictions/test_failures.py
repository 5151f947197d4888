"""Texts that a runner writes when a request fails are never answers."""

import pytest

from generation.engine.predictions.unanswered import FAILURES, is_empty, is_failure
from generation.engine.scoring.score import OUTSIDE
from tests.engine.predictions.asked import jsonl, read, right

N = 6  # the last question but one asks for yes or no
TEXTS = [f"{start} after 3 retries; the answer is yes, 1" for start in FAILURES]


@pytest.mark.parametrize("text", [*FAILURES, *TEXTS, f" \n{FAILURES[0]}]"])
def test_a_failure_is_recognised(text: str) -> None:
    assert is_failure(text) and not is_empty(text)


@pytest.mark.parametrize("text", ["", "yes", "[LMMS", "It failed to obtain answer via API", "LMMS_EVAL_REQUEST_FAILED"])
def test_other_texts_are_no_failures(text: str) -> None:
    assert not is_failure(text)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("form", ["jsonl", "lmms-eval", "vlmevalkit", "lines"])
def test_no_answer_is_read_from_a_failure(text: str, form: str) -> None:
    said = [*right(N)[: N - 1], text]
    rows = {
        "jsonl": [{"question_id": at, "answer": one} for at, one in enumerate(said)],
        "lmms-eval": [{"doc_id": at, "filtered_resps": [one], "target": ""} for at, one in enumerate(said)],
        "vlmevalkit": [
            {"index": at, "prediction": one, "A": "yes", "B": "1", "F": "yes"} for at, one in enumerate(said)
        ],
    }
    content = "\n".join(said) if form == "lines" else jsonl(rows[form])
    found = read(content, N)
    assert found.codes[N - 1] == found.read[N - 1] == OUTSIDE
    assert found.outside[N - 1] == text and len(found.outside) == 1


def test_the_same_text_without_its_beginning_is_read() -> None:
    text = TEXTS[0].removeprefix(FAILURES[0])
    said = [*right(N)[: N - 2], text, "cube"]
    found = read("\n".join(said), N)
    assert found.codes[N - 2] == OUTSIDE and found.read[N - 2] != OUTSIDE
