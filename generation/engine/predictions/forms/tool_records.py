"""Records of other tools, whose columns have a fixed meaning.

A reply that was cut off, refused or not given is no answer, as in the files of `ask.py`: it becomes null.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.predictions.answer_values import NoAnswer, quote

Record = Mapping[str, Any]
REPLIES = ("filtered_resps", "resps")  # lmms-eval's and lm-evaluation-harness's columns, the better one first
LOGARITHM = re.compile(r"-?\d+\.\d+(e-?\d+)?")
WHOLE = (None, "stop", "end_turn", "stop_sequence", "completed", "eos", "eos_token")


class ToolColumns(NamedTuple):
    """The columns of a tool's records: see `Columns`."""

    id: str
    answer: str
    format: str
    take: Callable[[Record], Any]
    own: frozenset[str] = frozenset()


def tool_of(record: Record, form: str, possible: Sequence[str]) -> ToolColumns | None:
    """Return the columns of a record if a known tool wrote it; `possible` are the columns that look like answers."""
    if "custom_id" in record and {*possible} <= {"response"} and _is_batch(record.get("response"), record):
        return ToolColumns("custom_id", "response", "openai-batch", _openai_answer, frozenset({"error"}))
    if "custom_id" in record and not possible and isinstance(record.get("result"), dict):
        return ToolColumns("custom_id", "result", "anthropic-batch", _anthropic_answer)
    if "doc_id" in record and possible and {*possible} <= {*REPLIES}:
        answer = next(name for name in REPLIES if name in record)
        return ToolColumns(
            "doc_id", answer, "lmms-eval", lambda record: first_reply(record[answer]), frozenset(REPLIES)
        )
    if "index" in record and "question_id" not in record and "prediction" in possible:
        own = frozenset({"prediction", "answer"})
        if {*possible} <= own:
            return ToolColumns("index", "prediction", f"vlmevalkit-{form}", lambda record: record["prediction"], own)
    return None


def unwrapped(name: str, take: Callable[[Record], Any]) -> Callable[[Record], Any]:
    """Return a function that returns the answer of a column, which may have lmms-eval's lists."""
    return (lambda record: first_reply(take(record))) if name in REPLIES else take


def first_reply(value: Any) -> Any:
    """Return the first reply in lists; None for an empty list, which is no reply. Log-likelihoods are no replies."""
    while isinstance(value, list):
        if len(value) == 2 and str(value[1]) in ("True", "False") and LOGARITHM.fullmatch(str(value[0])):
            raise NoAnswer("expected a reply in words, got log-likelihoods of choices")
        value = value[0] if value else None
    return value


def _is_batch(response: Any, record: Record) -> bool:
    if response is None:
        return "error" in record
    return isinstance(response, dict) and ("body" in response or "status_code" in response)


def _openai_answer(record: Record) -> Any:
    """Return the reply of a line of OpenAI's batch output, of chat completions, completions or responses."""
    response = record["response"]
    if response is None or record.get("error"):
        return None
    body = response.get("body") if isinstance(response, dict) else None
    if not isinstance(body, dict) or body.get("error") or response.get("status_code", 200) != 200:
        return None
    if "output" in body:
        return _of_responses(body)
    choices = body.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise NoAnswer("expected one reply in response.body.choices, got none or several")
    [choice] = choices
    message = choice.get("message") or {}
    if choice.get("finish_reason") not in WHOLE or not isinstance(message, dict) or message.get("refusal"):
        return None
    return _text_of(message.get("content", choice.get("text")))


def _of_responses(body: Record) -> Any:
    if body.get("status") not in WHOLE or not isinstance(body["output"], list):
        return None
    messages = [one for one in body["output"] if isinstance(one, dict) and one.get("type") == "message"]
    return _text_of(messages[-1].get("content")) if messages else None


def _anthropic_answer(record: Record) -> Any:
    """Return the reply of a line of Anthropic's batch results."""
    result = record["result"]
    message = result.get("message") if isinstance(result, dict) else None
    if not isinstance(message, dict) or message.get("stop_reason") not in WHOLE:
        return None
    return _text_of(message.get("content"))


def _text_of(content: Any) -> Any:
    """Return the text of a message: its content, or the texts of its parts one after the other."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise NoAnswer(f"expected a reply in words, got {quote(content)}")
    texts = [part.get("text") for part in content if part.get("type") in ("text", "output_text")]
    return "".join(text for text in texts if isinstance(text, str)) or None
