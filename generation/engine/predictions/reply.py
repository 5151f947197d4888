"""Reading answers out of free text, as models reply: the rules are few, stated, and the same for every model."""

import re
from collections.abc import Iterable, Mapping, Sequence

from generation.engine.predictions.vocabulary import AnswerVocabulary, plain
from generation.engine.scoring.score import OUTSIDE

OPEN, CLOSE = "<think>", "</think>"
MARK = re.compile(r"\banswer\b[*_`\"' ]{0,4}(?:is\b[*_`\"' ]{0,4}:?|:)|\\boxed\s?\{", re.IGNORECASE)
NOTHING: frozenset[int] = frozenset()
SHORT, REMEMBERED = 200, 10_000  # characters of replies that are looked up once, and how many of them
DRESS = " \t\r\n.,:;!?\"'*_`$()[]{}“”‘’"
MACRO = re.compile(r"\\(?:text|textbf|mathrm|mathbf|boxed)\s?\{")
WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:[-']\w+)*")


class ReplyReader:
    """Reads replies against a vocabulary; `admitted` says which codes answer each kind of question."""

    def __init__(self, vocabulary: AnswerVocabulary, admitted: Sequence[Iterable[int]]) -> None:
        self.vocabulary = vocabulary
        self.admitted = tuple(frozenset(codes) for codes in admitted)
        self.known: dict[str, tuple[int, frozenset[int]]] = {}
        self.words = {way: code for way, code in vocabulary.ways.items() if WORD.fullmatch(way)}
        self.phrases = sorted((way for way in vocabulary.ways if way not in self.words and way), key=len, reverse=True)

    def code(self, text: str, kind: int, *, choices: Mapping[str, str] | None = None) -> int:
        """Return the code of the answer that a reply gives to a question of a kind; `OUTSIDE` where it gives none.

        `choices` are the answers that stood for letters, where the question had such.
        """
        code, named = (not choices and self.known.get(text)) or self._understood(text, choices or {})
        if code != OUTSIDE:
            return code
        answers = named & self.admitted[kind]
        composed = self.vocabulary.composed[kind] if self.vocabulary.composed else None
        if composed is not None and len(answers) > 1:
            return composed.together(answers)
        return min(answers) if len(answers) == 1 else OUTSIDE

    def _understood(self, text: str, choices: Mapping[str, str]) -> tuple[int, frozenset[int]]:
        """Return the code that a reply states and the codes that it names, whatever was asked."""
        said, is_marked = said_last(without_thoughts(text))
        said = choices.get(said.strip(DRESS), said)
        code = self.vocabulary.code(said.strip(DRESS)) if is_marked or choices else OUTSIDE
        found = code, self.named(said) if code == OUTSIDE else NOTHING
        if not choices and len(text) <= SHORT and len(self.known) < REMEMBERED:
            self.known[text] = found
        return found

    def named(self, text: str) -> frozenset[int]:
        """Return the codes of all answers that occur in a text as whole words, the longest first."""
        said = plain(text)
        found = set()
        for phrase in self.phrases:
            if phrase in said:
                said, times = re.subn(rf"(?<!\w){re.escape(phrase)}(?!\w)", " ", said)
                found |= {self.vocabulary.ways[phrase]} if times else set()
        words = set(WORD.findall(said))
        words |= {part for word in words if not word.isalnum() for part in _parts(word)}
        return frozenset(found | {self.words[word] for word in words & self.words.keys()})


def _parts(word: str) -> Sequence[str]:
    """Return those that a word is put together of: `sphere-shaped`, `cube's`; a decimal number is one."""
    return (plain(word),) if word[:1].isdigit() else re.split(r"[-'_]", word)


def without_thoughts(text: str) -> str:
    """Return what stands outside of `<think>` blocks, also of one whose beginning or end is missing."""
    if CLOSE not in text and OPEN not in text:
        return text
    *before, last = text.split(CLOSE)
    kept = [part[:at] for part in before if (at := part.find(OPEN)) >= 0]
    return "".join([*kept, last.partition(OPEN)[0]])


def said_last(text: str) -> tuple[str, bool]:
    r"""Return what follows the last `answer:` (its line) or stands in the last `\boxed{}`; else the text, and False."""
    marks = list(MARK.finditer(text))
    if not marks:
        return text, False
    mark = marks[-1]
    rest = text[mark.end() :]
    if mark[0].endswith("{"):
        return _without_macros(_braced(rest)), True
    lines = (line for line in rest.split("\n") if line.strip(DRESS))
    return _without_macros(next(lines, "")), True


def _braced(text: str) -> str:
    """Return what stands before the brace that closes the one just opened; all of it where none does."""
    depth = 1
    for found in re.finditer(r"[{}]", text):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return text[: found.start()]
    return text


def _without_macros(text: str) -> str:
    return MACRO.sub(" ", text).replace("}", " ").replace("{", " ") if "\\" in text else text
