"""The reader of replies: which of the possible answers a reply asserts, by rules that are the same for every model.

No answer is guessed: a reply that asserts none of the possible answers, or two of them, is unreadable.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from generation.engine.replies.characters import CROSSED, has_symbols, plain_characters, with_crosses
from generation.engine.replies.composed_reader import ComposedReader
from generation.engine.replies.marked_answers import (
    HAS_WORDS,
    MarkedAnswer,
    is_unfinished,
    marked_answers,
    with_marked_values,
)
from generation.engine.replies.options import without_options
from generation.engine.replies.reply_frame import (
    LIST_IN_LINE,
    NEXT_QUESTION,
    ROLE,
    STORY,
    is_unanswered,
)
from generation.engine.replies.sentence_reader import REMEMBERED
from generation.engine.replies.statements import (
    REJECTED,
    RETRACTION,
    STRONG_RETRACTION,
    bare,
    plain_lines,
    plain_sentence,
    sentences_of,
)
from generation.engine.replies.text_reader import WRONG, TextReader
from generation.engine.replies.thoughts import ANSWER_END, is_in_thought, split_thoughts, with_plain_marks
from generation.engine.replies.vocabulary import OUTSIDE, AnswerVocabulary

LONGEST = 200_000  # characters without the thoughts; a longer reply is unreadable
SHORT = 200  # the most characters of a cached reply
REMARK = re.compile(
    r"(?:\w+ly |also |so |indeed )?(?:correct|right|clear|obvious|based|supported|straightforward|found|simple|"
    r"consistent)\b"
)
YES = re.compile(r"\b(?:yes|true)\b", re.IGNORECASE)
LIST_ROW = 3  # words of a line that may be a row of a list, with its number
ADDED = re.compile(r"[\s$*_)\].,;]{0,6}(?:or|and|/|maybe|perhaps|possibly|alternatively)\b", re.IGNORECASE)


class ReplyReader(TextReader):
    """Finds answers in replies; `admitted` has the codes of the possible answers to each kind of question."""

    def __init__(self, vocabulary: AnswerVocabulary, admitted: Sequence[Iterable[int]]) -> None:
        super().__init__(vocabulary, admitted)
        made = {id(form): ComposedReader(form) for form in vocabulary.composed if form is not None}
        self.composed = [made.get(id(form)) for form in vocabulary.composed] or [None] * len(self.admitted)
        self.known: dict[tuple[str, int], int] = {}

    def code(self, text: str, kind: int, *, choices: Mapping[str, str] | None = None) -> int:
        """Return the code of the answer that a reply gives to a question of a kind; `OUTSIDE` if it gives none.

        `choices` has the answers that letters stand for, if the question has letters.
        """
        if choices:
            return self._read(text, kind, choices)
        found = self.known.get((text, kind))
        if found is None:
            found = self._read(text, kind, {})
            if len(text) <= SHORT and len(self.known) < REMEMBERED:
                self.known[text, kind] = found
        return found

    def _read(self, text: str, kind: int, choices: Mapping[str, str]) -> int:
        outside = split_thoughts(text).said
        said, unknown_mark = with_plain_marks(with_crosses(outside))
        said = self._without_crosses(said.strip(), kind)
        composed = self.composed[kind]
        if (
            unknown_mark
            or len(said) > LONGEST
            or is_unanswered(said)
            or (composed is not None and has_symbols(outside))
        ):
            return OUTSIDE
        said = self._own_part(with_marked_values(plain_characters(said)), kind)
        if composed is not None and not choices:
            code = composed.code(said)
            return code if code in self.admitted[kind] else OUTSIDE
        said, choices = without_options(self._without_list(said, kind), choices)
        whole = self._exact(said, kind, choices)
        if whole != OUTSIDE:
            return whole
        marks = marked_answers(said)
        for marked in marks:
            if marked.text is None:
                return OUTSIDE
            if not marked.is_delimited and REMARK.match(plain_sentence(marked.text)):
                continue
            code = self._marked(marked, kind, choices)
            earlier = self._other_marked(next(marks, None), kind, choices)
            return code if earlier in (code, OUTSIDE) else OUTSIDE
        return self._unmarked(said, kind, choices)

    def _without_list(self, text: str, kind: int) -> str:
        """Return a text without a list of several answers in a line: `A. red B. blue`."""
        found = LIST_IN_LINE.search(text) if self._composed(kind) is None else None
        if found is None or len(self.named(plain_sentence(found[0])).codes & self.admitted[kind]) < 2:
            return text
        return f"{text[: found.start()]} {text[found.end() :]}"

    def _without_crosses(self, text: str, kind: int) -> str:
        """Return a text without crosses if they may mean no: `No ❌`."""
        return text.replace(CROSSED, " ") if self.truths[kind] and YES.search(text) is None else text

    def _own_part(self, text: str, kind: int) -> str:
        """Return a reply without further questions that the model asks and answers itself."""
        text = ROLE.sub("", text)
        questions = list(NEXT_QUESTION.finditer(f"\n{text}"))
        own = questions[1:] if questions and not questions[0].start() else questions
        own = own[1:] if STORY.match(text) and len(own) == len(questions) else own
        if own and HAS_WORDS.search(text[: own[0].start()]):
            return text[: own[0].start()]
        lines = text.split("\n")
        if len(lines) > 2 and self._answer(bare(plain_sentence(lines[0])), kind) != OUTSIDE:
            asked = next((at for at, line in enumerate(lines) if at and line.rstrip().endswith("?")), None)
            return text if asked is None else "\n".join(lines[:asked])
        return text

    def _other_marked(self, before: MarkedAnswer | None, kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of the answer that is marked before another one, unless the text between them corrects it."""
        if before is None or before.text is None:
            return OUTSIDE
        between = plain_sentence(before.between)
        if RETRACTION.search(between) or STRONG_RETRACTION.search(between) or WRONG.search(between):
            return OUTSIDE
        return self._exact(before.text if before.is_delimited else before.value, kind, choices)

    def _marked(self, marked: MarkedAnswer, kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of the answer in a marked text."""
        text, after = marked.text or "", marked.after
        line = [] if marked.is_delimited else sentences_of([plain_sentence(text)])[1:]
        if self._is_retracted("\n".join([*line, after]), kind):
            return OUTSIDE
        next_line = plain_sentence(after.split("\n")[0])
        if ADDED.match(after) and self.named(next_line).codes & self.admitted[kind]:
            return OUTSIDE
        if marked.is_delimited and REJECTED.match(next_line):
            return OUTSIDE
        code = self._exact(text, kind, choices)
        if code == OUTSIDE and marked.is_delimited and len(plain_lines(text)) > 1:
            code = self._unmarked(text, kind, choices)
        elif code == OUTSIDE:
            stated = self._stated(text, kind, choices, is_marked=True, after=after)
            code = OUTSIDE if stated is None else stated
        further = sentences_of([*line, *plain_lines(after.replace(ANSWER_END, " "))])
        if further and not self._leaves(further[0]):
            return OUTSIDE
        later = {self.vocabulary.code(bare(line)) for line in plain_lines(after)} - {OUTSIDE, code}
        return OUTSIDE if later & self.admitted[kind] else code


def is_cut_off(text: str) -> bool:
    """Return whether a reply ends within a thought, or before the end of the answer that it marks last."""
    return is_in_thought(text) or is_unfinished(with_plain_marks(split_thoughts(text).said).text)
