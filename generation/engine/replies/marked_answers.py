r"""The answer that a reply marks: `Answer: 3`, `The answer is 3`, `\boxed{3}`, `<answer>3</answer>`, `{"answer": 3}`.

The last mark counts. A mark does not count in a doubt, a condition or a question about the answer.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from generation.engine.replies.characters import words_of
from generation.engine.replies.remarks import UNDONE
from generation.engine.replies.statements import CONDITION, DOUBT, ELSEWHERE, is_refusal, plain_sentence, without_macros
from generation.engine.replies.thoughts import ANSWER, ANSWER_END, FIELD_MARKS

KEYS = words_of(
    "answer finalanswer final answers ans theanswer shortanswer correctanswer predictedanswer prediction response "
    "result output"
)
ANSWER_FIELDS = FIELD_MARKS | words_of("path carrying holding objects items inventory directions steps route")
TRUTH_FIELDS = words_of("exist exists is_true fits")
REMARK_FIELDS = words_of(
    "explanation reasoning reason rationale thought thoughts thinking analysis description confidence certainty unit "
    "units type id question note notes comment"
)
ERROR_FIELDS = words_of("error errors exception failure refusal alternative alternatives dropped removed excluded")
SUCCESS_FIELDS = words_of("success ok succeeded correct valid is_correct is_valid")
STATE_FIELDS = words_of("status state code")
GOOD_STATES = words_of(
    "ok okay success succeeded successful complete completed done finished answered final 0 200 true"
)
"""Names of fields with an answer if all other fields are remarks, of fields about a failure, good states."""
MOST_MARKS = 20  # marks of a reply that are looked at, from the last one on
LARGEST_JSON = 100_000  # characters of a JSON object that is read
LABEL = re.compile(
    # Answer: 3; the answer is 3; Final answer = 3; "answer": 3
    r"\b(?:answer|ans)\b[*_`\"')\] ]{0,4}(?:(?:is|was|would be|must be|should be|has to be|will be|"
    r"becomes)\b[*_`\"' ]{0,4}[:=]?|"
    r"[:=](?![:=])|->|→|⇒|=>|[-–—](?= ))|"
    # other languages
    r"\b(?:antwort|respuesta|réponse|resposta|risposta|antwoord|ответ)\b(?: \w{1,10})? ?(?:lautet|ist|es|est|é|è|"
    r"is|это)?\b ?[:：]? ?|(?:答案|答え|回答|정답)[^\S\n]?(?:是|は|은)?[:：]?|"
    # the answer to this question is 3
    r"\b(?:answer|response) (?:to|for) [^.?!\n:]{1,60}? (?:is\b:?|:)|"
    # A: 3 at the beginning of a line; Conclusion: 3
    r"^[ \t>#*_-]{0,6}(?:a|answer|conclusion|verdict|result|final result|solution|response|output|prediction|final|"
    r"total|sum|count|decision)"
    r"[*_]{0,3} ?:|"
    # a line with the word alone
    r"^[ \t>#*_=-]{0,8}(?:(?:the|my|final|short|correct) ){0,2}(?:answer|conclusion|verdict|result)[*_ \t=:-]{0,8}$",
    re.IGNORECASE | re.MULTILINE,
)
BOXED = re.compile(r"\\(?:boxed|fbox|framebox)\s?\{")
MARKS = re.compile(
    f"{LABEL.pattern}|(?P<box>{BOXED.pattern})|(?P<tag>{re.escape(ANSWER)})", re.IGNORECASE | re.MULTILINE
)
VALUE = re.compile(
    r"[\"'](?:final[_ ]?)?answer[\"']\s{0,9}:\s{0,9}(\"(?:[^\"\\\n]|\\.){0,300}\"|\[[^\[\]\n]{0,300}\]|"
    r"[^\s,}\]\"]{1,60})(?=\s{0,9}[,}\n]|$)",
    re.IGNORECASE,
)
ANSWER_ENDS = re.compile(re.escape(ANSWER_END), re.IGNORECASE)
LONGEST_LEAD = 300  # characters before a mark in which the beginning of its sentence is looked for
OWN = re.compile(
    r"(?:^|[^\w' ]\W*|\b(?:the|my|our|your|this|an?|so|thus|therefore|hence|and|but|then|is|here|here's|in|as|for|that|"
    r"its|short|ok|okay|sure|final) )"
    r"(?:(?:final|short|best|correct|corrected|right|overall|updated|revised|direct|concise|brief|detailed|full|"
    r"complete|"
    r"proper|actual|true|single|only|single-word|one-word|exact|numerical|numeric|most likely|likely|true|false) )*"
    r"(?:answer|ans)\b"
)
"""The model's own answer: `my final answer`, not `the student's answer`, `my previous answer` or `a typical answer`."""
NOT_SAID = re.compile(
    r"(?:\b(?:(?:part|half|piece|portion|some) of|can't|cannot|not|deny|denies|wrong|false|claim(?:s|ed)?|says|said|"
    r"thought|thinks|at first|initially)|"
    r"n't)\b"
)
FORMAT = re.compile(
    r"\b(?:format|template|e\.?g|ex|like so|(?:this|the following) (?:form|way)|"
    r"example|sample|instance|syntax|expected (?:output|answer|reply)|looks? like|"
    r"(?:respond|reply|answer) (?:in|with) (?:this|the following|exactly))\b",
    re.IGNORECASE,
)
HAS_WORDS = re.compile(r"[^\W_]")
LABEL_CLAUSE_END = re.compile(r"[,;](?= )|\b(?:so|but|therefore|hence|thus|then)\b")
PIECE_END = re.compile(r"[.,;!?\n](?:\s|$)|\n")
SENTENCE = re.compile(r"(?<!e\.g)(?<!\beg)(?<!\bex)[.!?\n](?:\s|$)|\n")


class MarkedAnswer(NamedTuple):
    """A marked text, the text after it, and whether the mark says where it ends.

    `text` is None if a doubt, a condition or a question is about the mark. `value` is its first piece without commas,
    `between` the text up to the next mark, and `is_below` whether the text begins below the line of the mark.
    """

    text: str | None
    after: str
    is_delimited: bool
    value: str = ""
    between: str = ""
    is_below: bool = False


def marked_answers(text: str) -> Iterator[MarkedAnswer]:
    """Yield what the marks of a text mark, the last one first."""
    marks = list(MARKS.finditer(text))[-MOST_MARKS:]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(reversed(marks), reversed(ends)):  # noqa: B905 - Python 3.9
        found = _marked(text, mark)
        if found.is_delimited:
            yield found._replace(between=found.after[: max(0, len(found.after) - len(text) + end)])
        else:
            value, between = (*PIECE_END.split(text[mark.end() : end].strip(), 1), "")[:2]
            yield found._replace(value=value, between=between)


def _marked(text: str, mark: re.Match[str]) -> MarkedAnswer:
    rest = text[mark.end() :]
    before = SENTENCE.split(text[max(0, mark.start() - LONGEST_LEAD) : mark.start()])[-1]
    if FORMAT.search(before) or _is_announced(text[max(0, mark.start() - LONGEST_LEAD) : mark.start()]):
        return MarkedAnswer(None, rest, is_delimited=True)
    if mark["box"]:
        inside = braced(rest)
        return MarkedAnswer(without_macros(inside), rest[len(inside) + 1 :], is_delimited=True)
    if mark["tag"]:
        inside = ANSWER_ENDS.split(rest, maxsplit=1)[0]
        return MarkedAnswer(inside, rest[len(inside) + len(ANSWER_END) :], is_delimited=True)
    return _labelled(plain_sentence(f"{before}{mark[0]}"), rest)


def _is_announced(before: str) -> bool:
    """Return whether the line before a mark announces an example or a format: `Respond in this format:`."""
    line = before.rstrip(" \t\n*_`#>").rpartition("\n")[2].removesuffix("json").rstrip()
    return line.endswith(":") and FORMAT.search(line) is not None


def _labelled(label: str, rest: str) -> MarkedAnswer:
    """Return the first line with words after a label; `label` is the beginning of its sentence."""
    end = 0
    for at, whole in enumerate(rest.split("\n")):
        line = ANSWER_ENDS.split(whole)[0]
        end += len(whole) + 1
        if HAS_WORDS.search(line):
            is_said = not (
                ("answer" in label and not OWN.search(LABEL_CLAUSE_END.split(label)[-1].strip()))
                or DOUBT.search(label)
                or ELSEWHERE.search(label)
                or CONDITION.search(label.replace("would be", ""))
                or NOT_SAID.search(LABEL_CLAUSE_END.split(label)[-1])
            )
            return MarkedAnswer(line if is_said else None, rest[end:], is_delimited=False, is_below=at > 0)
    return MarkedAnswer("", "", is_delimited=False)


def braced(text: str) -> str:
    """Return the text before the brace that closes an already open one; the whole text if no brace closes it."""
    depth = 1
    for found in re.finditer(r"[{}]", text):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return text[: found.start()]
    return text


def with_marked_values(text: str) -> str:
    """Return a text in which each JSON object with an answer is the answer in `<answer>` and `</answer>`."""
    if '"' not in text and "'" not in text:
        return text
    pieces, at = [], 0
    for start, end in _objects(text):
        value = _value_in(text[start:end])
        if value is not None:
            pieces += [text[at:start], value]
            at = end
    text = "".join([*pieces, text[at:]])
    return VALUE.sub(lambda found: f"{ANSWER}{found[1]}{ANSWER_END}", text)


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each outer brace of a text begins and ends."""
    depth = start = 0
    for found in re.finditer(r"\"(?:[^\"\\\n]|\\.)*\"|[{}]", text):
        if found[0] == "{":
            start = start if depth else found.start()
            depth += 1
        elif found[0] == "}" and depth:
            depth -= 1
            if not depth and found.end() - start <= LARGEST_JSON:
                yield start, found.end()


def _value_in(text: str) -> str | None:
    """Return the marked answer of a JSON object, a line break if it has no answer; None for other texts."""
    try:
        found = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return None
    if _is_failure(found):
        return f"{ANSWER}{ANSWER_END}"
    values = set(_values(found))
    if values:
        return f"{ANSWER}{values.pop() if len(values) == 1 else ''}{ANSWER_END}"
    remarks = [_text(value).lower() for key, value in found.items() if key.lower() in REMARK_FIELDS]
    if any(one in ("0", "error") or is_refusal(one) or UNDONE.search(one) for one in remarks):
        return "\n"
    truths = [_text(value) for key, value in found.items() if key.lower() in TRUTH_FIELDS]
    named = [(key, _text(value)) for key, value in found.items() if key.lower() in ANSWER_FIELDS]
    if (
        len(named) + len(truths) != 1
        or not {key.lower() for key in found} <= ANSWER_FIELDS | TRUTH_FIELDS | REMARK_FIELDS
    ):
        return "\n"
    return f"{ANSWER}{truths[0]}{ANSWER_END}" if truths else f"\n{named[0][0]}: {named[0][1]}\n"


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of some names and values; one whose names occur twice counts as an error."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else found | {"error": "a name occurs twice"}


def _is_failure(found: dict[str, Any]) -> bool:
    """Return whether a JSON object reports an error: `{"status": "failed", "result": 0}`."""
    for key, value in found.items():
        name = key.lower()
        if name in ERROR_FIELDS and value not in (None, False, "", 0, [], {}):
            return True
        if (name in SUCCESS_FIELDS and value is False) or (
            name in STATE_FIELDS and _text(value).lower() not in GOOD_STATES
        ):
            return True
    return False


def _values(found: dict[str, Any]) -> Iterator[str]:
    if "step" in found:
        return  # the result of a step is no answer
    for key, value in found.items():
        if re.sub(r"[\W_\d]", "", key).lower() in KEYS:
            if isinstance(value, dict):
                inner = [one for one in value.values() if not isinstance(one, (dict, list))]
                yield from map(_text, inner if len(inner) == 1 else _values(value))
            else:
                yield _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value)) or "[]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "" if value is None or isinstance(value, dict) else str(value)


def is_unfinished(text: str) -> bool:
    r"""Return whether the last mark of a text is a `\boxed{` or `<answer>` that nothing closes."""
    marks = list(MARKS.finditer(text))
    if not marks or not (marks[-1]["box"] or marks[-1]["tag"]):
        return False
    rest = text[marks[-1].end() :]
    return ANSWER_ENDS.search(rest) is None if marks[-1]["tag"] else braced(rest) == rest
