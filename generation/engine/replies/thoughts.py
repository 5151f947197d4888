"""Thoughts of models: the parts of a reply between marks such as `<think>` and `</think>`, which are no answer.

Models use many pairs of marks: `<think>`, `[THINK]`, `◁think▷`, `<|begin_of_thought|>`, `<seed:think>`. A mark is read
as its brackets, its name, and whether it opens or closes. The names that are known are listed here. The beginning
or the end of a pair may be missing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from generation.engine.replies.characters import words_of

THOUGHTS = words_of(
    "think thinking thought thoughts thoughtprocess thinkingprocess thinkingsteps reasoning reason reasons "
    "reasoningprocess rationale analysis analyze analyse scratchpad scratch reflection reflect selfreflection "
    "critique review verification verify check selfcheck innermonologue monologue inner innerthought innerthoughts "
    "internal internalthoughts internalmonologue chainofthought cot deliberation deliberate ponder plan planning "
    "brainstorm draft work working workings step steps explanation explain justification observation observe "
    "perception caption description summary context notes note question questions options choices details unused94 "
    "unused95 "
    "cotbudgetreflect"
)
ANSWER_NAMES = words_of("answer finalanswer theanswer myanswer ans conclusion box")
WRAPPERS = words_of(
    "solution response output final finalresponse finaloutput result reply message assistant root html body"
)
SPECIAL = words_of(
    "s eos bos pad unk image img imagepad imagestart imageend imstart imend im visionstart visionend vision picture "
    "end start return eotid eot endofturn startofturn turn headerid eom endoftext beginoftext text endofsentence user "
    "system assistant constrain call sep mask"
)
FIELD_MARKS = words_of("count number total sum color colour shape size material location place")
LAYOUT = words_of("p br div li ul ol tr td th table tbody thead hr h1 h2 h3 h4 h5 h6 pre blockquote section")
FONT = words_of("b i u em strong span code mark a font center small big sub sup s del ins q cite kbd samp tt var")

MARK = re.compile(
    r"(?P<open><\|?|&lt;\|?|\[{1,2}|◁|⟨|【|＜|«|⟪|⟦|〈|《|「|『|\{{1,2}|\({2})\s?(?P<slash>/?)\s?"
    r"(?P<name>[^\W\d_][\w:.\-]{0,40}(?: [^\W\d_]\w{0,20}){0,3})"
    r"(?:\s{1,3}[^\s<>\[\]=]{1,40}=[^<>\[\]\n]{0,120})?\s?(?P<slash_after>/?)(?:\|?>|\|?&gt;|\]{1,2}|▷|⟩|】|＞|»|⟫|⟧|"
    r"〉|》|」|』|\}{1,2}|\){2})"
)
OPENING = re.compile(r"^(?:begin|start)[_ -](?:of[_ -])?|[_ -](?:start|begin|prefix)$")
CLOSING = re.compile(r"^end[_ -](?:of[_ -])?|[_ -](?:end|suffix)$|^unused95$")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
MOST_UNKNOWN = 100  # unknown marks whose pairs are looked for
CHANNEL = re.compile(r"<\|?channel\|?>[ \t]*(\w+)?", re.IGNORECASE)
FINAL_CHANNELS = frozenset(("final", "answer", "response"))
HARMONY = re.compile(
    r"\A\s*(?:assistant)?analysis(?=[A-Z\s])(?P<thought>.*)(?:\bassistant |assistant)final|"
    r"\A\s*(?:assistant)?analysis(?=[A-Z][a-z' ])(?P<open>.*)\Z|"
    r"\A\s*Thinking\.\.\.[ \t]*\n(?P<said>.*)\n[ \t]*\.\.\.done thinking\.",
    re.DOTALL,
)
"""Channels whose marks were left out, as in `analysisThe ball is red.assistantfinalred`, and Ollama's thoughts."""
TAGS = ("<", "<|", "&lt;", "&lt;|", "◁", "＜")
CLOSED = re.compile(r"[\[【⟨«⟪⟦〈《「『{(<]\s?/\s?([^\W\d_][\w:. -]{0,60})[\]】⟩»⟫⟧〉》」』})>]")
SIGNS = re.compile(r"[\W_]")


class Mark(NamedTuple):
    """A mark of a text: where it stands, its name in small letters without signs, and whether it closes a pair.

    A heading is a mark in brackets that no other one closes, such as `[Answer]`.
    """

    start: int
    end: int
    name: str
    is_closing: bool
    is_heading: bool
    written: str


class SplitReply(NamedTuple):
    """What a reply says, and its thoughts."""

    said: str
    thoughts: Sequence[str]


def marks_in(text: str) -> Iterator[Mark]:
    """Yield the marks of a text. In brackets such as `[THINK]`, only names that are known or closed are marks."""
    closed: frozenset[str] | None = None
    for found in MARK.finditer(text):
        small = found["name"].lower().rpartition(":")[2]
        is_closing = bool(found["slash"]) or CLOSING.search(small) is not None
        bare = small if found["slash"] else (CLOSING if is_closing else OPENING).sub("", small)
        name = SIGNS.sub("", bare or small)
        is_known = name in THOUGHTS or name in ANSWER_NAMES
        is_heading = found["open"] not in TAGS and not found["slash"]
        if is_heading:
            if closed is None:
                closed = frozenset(SIGNS.sub("", one.lower()) for one in CLOSED.findall(text))
            if name not in closed and not is_known:
                continue
            is_heading = name not in closed
        if (" " in found["name"] and not is_known) or (found["slash_after"] and not found["slash"]):
            continue  # a comparison such as `a <b and c> d`, and a mark without content such as `<br/>`
        yield Mark(found.start(), found.end(), name, is_closing, is_heading, found[0])


def split_thoughts(text: str) -> SplitReply:
    """Return a reply without its thoughts, and the thoughts without their marks.

    A text before an end without a beginning is a thought, and so is the text after a beginning without an end.
    """
    text, thoughts = _split_channels(text)
    kept: list[str] = []
    at, opened = 0, -1  # the end of the last mark that closes a thought, and of the one that opened the current thought
    for mark in marks_in(text):
        if opened >= 0 and mark.is_heading and mark.name in ANSWER_NAMES:
            thoughts.append(text[opened : mark.start])
            at, opened = mark.start, -1
        if mark.name not in THOUGHTS:
            continue
        if mark.is_closing:
            thoughts.append(text[max(at, opened) : mark.start])
            at, opened = mark.end, -1
        elif opened < 0:
            kept.append(text[at : mark.start])
            opened = mark.end
    if opened < 0:
        kept.append(text[at:])
    else:
        thoughts.append(text[opened:])
    return SplitReply("".join(kept), [_without_marks(one) for one in thoughts])


def _without_marks(thought: str) -> str:
    """Return a thought without the marks of thoughts in it."""
    pieces, at = [], 0
    for mark in marks_in(thought):
        if mark.name in THOUGHTS:
            pieces.append(thought[at : mark.start])
            at = mark.end
    return "".join([*pieces, thought[at:]])


def _split_channels(text: str) -> tuple[str, list[str]]:
    """Return a reply without the channels that are not final, as in `<|channel|>analysis`, and their texts."""
    bare = HARMONY.match(text)
    if bare is not None:
        return text[bare.end() :], [next(filter(None, bare.groups()), "")]
    marks = list(CHANNEL.finditer(text))
    if not marks:
        return text, []
    kept, thoughts = [text[: marks[0].start()]], []
    for mark, end in zip(marks, [*(mark.start() for mark in marks[1:]), len(text)]):  # noqa: B905 - Python 3.9
        name = mark[1] or ""
        is_final = name.lower() in FINAL_CHANNELS or name.lower() not in THOUGHTS | {"commentary"}
        part = text[mark.end() if is_final and name.lower() in FINAL_CHANNELS else mark.end() - len(name) : end]
        if is_final:
            kept.append(part)
        else:
            thoughts.append(text[mark.end() : end])
    return "".join(kept), thoughts


def without_thoughts(text: str) -> str:
    """Return a reply without its thoughts."""
    return split_thoughts(text).said


def is_in_thought(text: str) -> bool:
    """Return whether a text ends within a thought."""
    bare = HARMONY.match(text)
    if bare is not None and bare["open"]:
        return True
    is_open = False
    for mark in marks_in(text):
        if mark.name in THOUGHTS:
            is_open = not mark.is_closing
    return is_open


ANSWER, ANSWER_END = "<answer>", "</answer>"


class StatementText(NamedTuple):
    """A text whose marks of answers are `<answer>` and `</answer>`, without marks of layout, font and roles.

    `unknown_mark` is the first of a pair of unknown marks that has most of the text; empty if there is none.
    """

    text: str
    unknown_mark: str


def with_plain_marks(said: str) -> StatementText:
    """Return what a reply says with the marks of answers in one form."""
    said = COMMENT.sub(" ", said) if "<!--" in said else said
    pieces: list[str] = []
    unknown: list[Mark] = []
    at = 0
    for mark in marks_in(said):
        if mark.name in ANSWER_NAMES:
            put = ANSWER_END if mark.is_closing else ANSWER
        elif mark.name in FONT:
            put = ""
        elif mark.name in WRAPPERS or mark.name in SPECIAL or mark.name in LAYOUT:
            put = "\n"
        elif mark.name in FIELD_MARKS:
            put = "\n" if mark.is_closing else f"\n{mark.name}: "
        else:
            unknown.append(mark)
            continue
        pieces += [said[at : mark.start], put]
        at = mark.end
    return StatementText("".join([*pieces, said[at:]]), _mark_of_most(said, unknown))


def _mark_of_most(text: str, marks: Sequence[Mark]) -> str:
    """Return the first unknown mark whose pairs have more than half of a text; empty if none has."""
    if not marks:
        return ""
    opened: dict[str, Mark] = {}
    inside: dict[str, int] = {}
    first: dict[str, Mark] = {}
    for mark in marks[:MOST_UNKNOWN]:
        first.setdefault(mark.name, mark)
        if mark.is_closing:
            begin = opened.pop(mark.name).end if mark.name in opened else 0
            inside[mark.name] = inside.get(mark.name, 0) + _size(text[begin : mark.start])
        else:
            opened.setdefault(mark.name, mark)
    for name, mark in opened.items():
        if name not in inside and len(name) > 1:
            inside[name] = _size(text[mark.end :])
    whole = _size(text) - sum(len(mark.written) for mark in marks)
    found = [name for name, size in inside.items() if 2 * size > whole]
    return first[found[0]].written if found else ""


def _size(text: str) -> int:
    return len(text) - sum(map(text.count, " \t\n"))
