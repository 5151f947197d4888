"""The reader of texts without marks: the answer that a text begins with, concludes, ends with, or asserts at all."""

import re
from collections.abc import Mapping, Sequence

from generation.engine.replies.assertions import FILLERS
from generation.engine.replies.characters import words_of
from generation.engine.replies.marked_answers import HAS_WORDS
from generation.engine.replies.options import LETTER_LABEL, OPTION_ALONE, stated_letter
from generation.engine.replies.remarks import GOES_ON, GUESSED, REMARK_HEADING, REMARK_SIGNS, leaves_answer
from generation.engine.replies.reply_frame import (
    CLOSER,
    CLOSING_CLAUSE,
    OPENER,
    THOUGHT_LABEL,
    UNREAD_JSON,
    breaks_off,
    concluding_arrow,
    is_listed,
    is_question,
)
from generation.engine.replies.sentence_reader import WITHOUT, WORD, SentenceReader
from generation.engine.replies.statements import (
    ADMITS,
    CHAT,
    CONCLUSION,
    CONDITION,
    CONTRAST,
    DOUBT,
    DRESS,
    EARLIER,
    FURTHER,
    GONE,
    HEAD_END,
    INSTRUCTION,
    LEAD_IN,
    MISSING,
    OFFER,
    PARENTHESES,
    REASON,
    RETRACTION,
    RETREAT,
    STRONG_RETRACTION,
    TRUE_THAT,
    UNCOUNTED,
    bare,
    is_asserted,
    is_refusal,
    plain_lines,
    plain_sentence,
    sentences_of,
)
from generation.engine.replies.vocabulary import OUTSIDE, plain

ALTERNATIVE = re.compile(r"\((?:or|either|could|might|also|maybe|perhaps|possibly)\b")
TALK = re.compile(r"\b(?:i|me|my|you|your|we|it load|image|picture|photo|question|answer)\b")
BARE_TRUTH = re.compile(
    r"^(yes|no) (?=(?:there|it|they|he|she|that|we|i|both|all)(?:'s| (?:is|are|was|were|does|do|did|has|have|can|"
    r"isn't|aren't|"
    r"wasn't|doesn't|don't|didn't|hasn't|haven't|fits?))\b)"
)
TRUTH_LEAD = re.compile(
    r"^(?:based on|from|according to|looking at|judging by|in|given|after|upon|having) [^,.;:]{1,80}[,:] (?=(?:yes|"
    r"no|true|false|maybe)\b)"
)
LONGEST_PIECE = 40  # characters of an answer that stands alone, with words such as `it is`
BARE_TRUTHS = words_of("yes no true false nope nah yep yeah yup")
JOINING = words_of("and or nor not i.e i e of")
HARMLESS_ASIDE = re.compile(r"\((?:[a-h]|[\w, ]{1,80},? and (?:the |an? )?\w+)\)")  # a letter, a list of things
PROBABILITY = re.compile(r"\b(\w+)[\"']? ?[:=(] ?[\d.]")
NUMBER_FIRST = re.compile(r"\A[\s*_]*(?!1\b)(\d{1,3})[*_]*\. +(?=[^\W\d_])")
AFTER_COUNT = re.compile(
    r"(?:there (?:are|is) (?:no|none)|(?:the|these) (?:\w+ ){0,3}are|they are|i counted|none|no \w+)\b", re.IGNORECASE
)
"""What follows a count in the first sentence, not the number of a step: `5. The objects are ...`."""
STEP = re.compile(r"[\W_]*step \d", re.IGNORECASE)
IT_IS = re.compile(r"(?:it|it's|they|they're|that|that's|this|actually|in fact|one)\b")
ITEM_LINE = re.compile(r"\n[\s*_]*\d{1,3}[.)] ")
PIECES = re.compile(r"[–—;]| -+ ")
WRONG = re.compile(r"\b(?:not|wrong|incorrect|mistak\w+|error|missed|overlooked|confus\w+|mixed up)\b|n't\b")
WHOLE_CLAIM = {"correct": "yes", "incorrect": "no", "not true": "no", "not correct": "no", "untrue": "no"}


class TextReader(SentenceReader):
    """Reads texts; `admitted` has the codes of the possible answers to each kind of question."""

    def _exact(self, text: str, kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of a text that is an answer, or the letter of one, apart from signs around it."""
        if text.rstrip(" \t\n\"'*_`)").endswith("?"):
            return OUTSIDE
        inner = bare(text)
        option = OPTION_ALONE.fullmatch(inner) if choices else None
        small = option[1] if option is not None else inner
        letter = choices.get(small.upper()) if len(small) == 1 else None
        if letter is not None:
            return self.vocabulary.code(letter)
        lettered = LETTER_LABEL.match(inner)
        forms = (
            text,
            text.strip(),
            inner,
            *((bare(inner[lettered.end() :]),) if lettered and lettered[1] not in choices else ()),
        )
        found = (self._answer(said, kind) for said in forms)
        return next((code for code in found if code != OUTSIDE), OUTSIDE)

    def _stated(
        self, text: str, kind: int, choices: Mapping[str, str], *, is_marked: bool, after: str = ""
    ) -> int | None:
        """Return the code of the answer that a text begins with, a word or, if it is marked, a phrase.

        It is `OUTSIDE` if the text takes it back or adds another one, and None if the text begins with something else.
        """
        line = next((one for one in text.split("\n") if one.strip(DRESS)), "")
        sentence = (sentences_of([plain_sentence(line)]) or [""])[0]
        if is_refusal(sentence) or not is_asserted(sentence, doubts=False):
            return None
        if ALTERNATIVE.search(sentence):
            return OUTSIDE
        letter = self._letter(f"{text}\n{after}", choices, is_marked=is_marked)
        if letter is not None:
            return letter
        sentence = CONTRAST.sub("", sentence)
        whole = bare(PARENTHESES.sub(" ", sentence))
        inner = self._without_lead(bare(sentence), kind)
        for said in (bare(sentence), inner, whole):
            code = OUTSIDE if said in self.vocabulary.bits and said != bare(sentence) else self._answer(said, kind)
            if code != OUTSIDE:
                return code if self._has_fit_asides(sentence) else OUTSIDE
        return self._stated_head(sentence, kind, is_marked=is_marked)

    def _stated_head(self, sentence: str, kind: int, *, is_marked: bool) -> int | None:
        """Return what `_stated` does for a sentence that has more words than its answer."""
        end = HEAD_END.search(sentence)
        head, tail = (sentence[: end.start()], sentence[end.start() :]) if end else (sentence, "")
        inner = self._without_lead(bare(head), kind)
        code = OUTSIDE if inner in self.vocabulary.bits and inner != bare(head) else self._answer(inner, kind)
        if code == OUTSIDE or (WITHOUT.match(bare(head)) and tail.strip()[:1] not in ("", *",.;:!(–—-")):
            if not is_marked:
                return None
            given = self._given(sentence, kind)
            if given is None:
                code = self._phrase(self._without_lead(bare(head), kind), kind)
                return OUTSIDE if self._others(tail, kind) - {code} else code
            return given
        if code == OUTSIDE or not is_asserted(sentence, doubts=code != self.maybe):
            return OUTSIDE
        if STRONG_RETRACTION.search(tail) or (
            RETRACTION.search(tail) and self.named(tail).codes & self.admitted[kind] - {code}
        ):
            return OUTSIDE
        others = self._others(tail, kind) - {code}
        is_whole = self.truths[kind] or self._leaves(tail)
        return code if is_whole and not others else OUTSIDE

    def _asks_for_other(self, sentences: Sequence[str], code: int, kind: int) -> bool:
        """Return whether sentences ask for another answer: `Red. Or blue?`."""
        questions = " . ".join(filter(is_question, sentences))
        return bool(self.named(questions).codes & self.admitted[kind] - {code})

    def _is_contradicted(self, sentences: Sequence[str], code: int, kind: int) -> bool:
        """Return whether sentences deny an answer, or say that it is another one, as `Red. It's blue.` does."""
        return any(
            code in self.named(one).denied or (IT_IS.match(one) and self._given(one, kind) not in (None, code))
            for one in sentences
        )

    def _has_fit_asides(self, sentence: str) -> bool:
        """Return whether what is in parentheses leaves an answer as it is: not `red (wrong)`."""
        return all(HARMLESS_ASIDE.fullmatch(one) or self._leaves(one) for one in PARENTHESES.findall(sentence))

    def _leaves(self, said: str) -> bool:
        """Return whether a text after an answer leaves it as it is: a known remark, or words for things and answers."""
        words = WORD.findall(said.strip(REMARK_SIGNS).split(",")[0].replace("-", " "))
        if leaves_answer(said):
            return True
        return not JOINING.issuperset(words) and all(
            word not in BARE_TRUTHS and (self._is_noun(word) or word in JOINING or word in self.words) for word in words
        )

    def _others(self, tail: str, kind: int) -> frozenset[int]:
        """Return the answers that the rest of a sentence adds, apart from those in parentheses and reasons."""
        rest = PARENTHESES.sub(" ", tail)
        reason = REASON.search(rest, 1)
        first = REASON.match(rest.lstrip()) or rest.lstrip()[:1] == "("
        if first:
            code = self.vocabulary.code(bare(rest))
            return frozenset({code} - {OUTSIDE})
        named = self.named(rest[: reason.start()] if reason else rest)
        return (named.codes & self.admitted[kind]) - named.denied

    def _unmarked(self, text: str, kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of the answer that a text without marks asserts."""
        text = self._with_count_alone(text) if self.counts[kind] else text
        lines = [CLOSING_CLAUSE.sub("", line) for line in plain_lines(text)]
        sentences = [one for one in sentences_of(lines) if not CLOSER.search(one)]
        claim = WHOLE_CLAIM.get(plain(text.strip(DRESS)))
        if claim is not None:
            return self._answer(claim, kind)
        if self._is_unfit(text, sentences, kind):
            return OUTSIDE
        chosen = self._letter(text, choices, is_marked=False)
        if chosen is not None:
            return chosen
        exact = {self._answer(bare(line), kind) for line in lines if not line.endswith("?")} - {OUTSIDE}
        if len(exact) > 1:
            return OUTSIDE
        if self.truths[kind] and any(map(self._is_about_talk, sentences)):
            return OUTSIDE
        begin = next((at for at, one in enumerate(sentences) if not is_question(one) and not OPENER.match(one)), None)
        if begin is None:
            return OUTSIDE
        return self._told(text, sentences[begin:], exact, kind, choices)

    def _with_count_alone(self, text: str) -> str:
        """Return a text whose first sentence is a count with this count in a line of its own.

        `0. There are none.` has such a sentence. The result is empty if the rest has another number, because
        `3. There are 2 cubes.` may be the third step.
        """
        found = NUMBER_FIRST.match(text)
        if found is None or ITEM_LINE.search(text):
            return text
        rest = text[found.end() :]
        if self.named(plain_sentence(rest)).codes & self.numbers - {self.vocabulary.code(found[1])}:
            return ""
        return f"{found[1]}\n\n{rest}" if AFTER_COUNT.match(rest) else text

    def _is_unfit(self, text: str, sentences: Sequence[str], kind: int) -> bool:
        """Return whether a text without marks can't give an answer: a refusal, code, a thought, a list in one line."""
        return (
            not sentences
            or any(map(is_refusal, sentences))
            or UNREAD_JSON.match(text) is not None
            or THOUGHT_LABEL.match(text) is not None
            or (not self.counts[kind] and self._has_probabilities(" ".join(sentences), kind))
            or (STEP.match(text) is not None and len(STEP.findall(text)) == 1)
            or (self.counts[kind] and any(map(UNCOUNTED.search, sentences)))
        )

    def _has_probabilities(self, text: str, kind: int) -> bool:
        """Return whether a text has numbers for several answers: `yes: 0.5, no: 0.5`."""
        codes = {self.words.get(word, OUTSIDE) for word in PROBABILITY.findall(text)}
        return len(codes & self.admitted[kind]) > 1

    def _is_about_talk(self, sentence: str) -> bool:
        """Return whether a sentence is a question that is not about a thing: `Image loaded?`, `Are you sure?`."""
        if not is_question(sentence):
            return False
        words = WORD.findall(sentence)
        is_about_thing = any(self._is_noun(word) and word not in FILLERS for word in words)
        return not is_about_thing and (len(words) < 3 or TALK.search(sentence) is not None)

    def _told(self, text: str, sentences: Sequence[str], exact: set[int], kind: int, choices: Mapping[str, str]) -> int:
        """Return the code of the answer that sentences assert: the first one, a conclusion, the last one, or any."""
        exact = exact | self._alone(sentences, kind)
        first = self._leading(sentences, kind, choices)
        is_open = breaks_off(text, sentences) and self._given(sentences[-1], kind) is None
        has_own_line = (
            first is not None and self._answer(bare(plain_sentence(text.lstrip().split("\n")[0])), kind) == first
        )
        if is_open and not has_own_line and (first is None or len(sentences) > 1):
            return OUTSIDE
        conclusion = None if is_open else self._conclusion(sentences, kind)
        if conclusion is not None and first in (None, OUTSIDE):
            return conclusion
        is_part = self.counts[kind] and any(map(FURTHER.search, sentences))
        if first is not None:
            return first if exact <= {first} and conclusion in (None, first) and not is_part else OUTSIDE
        final = OUTSIDE if is_question(sentences[-1]) else self._answer(bare(sentences[-1]), kind)
        if final != OUTSIDE:
            before = sentences[-2] if len(sentences) > 1 else ""
            is_format = before.endswith(":") and (CONDITION.search(before) or INSTRUCTION.search(before))
            is_doubted = DOUBT.search(before) and not self._has_maybe(kind)
            return OUTSIDE if is_format or is_doubted or not exact <= {final} else final
        if is_part or self._goes_on(sentences, kind):
            return OUTSIDE
        rows = text.rstrip().split("\n")
        if self.truths[kind] and len(sentences) > 1:
            row = sentences_of(plain_lines(rows[-1]))
            for last in (row, sentences[-1:]):
                code = self._leading(last, kind, choices) if last else None
                if code is not None:
                    return code if exact <= {code} else OUTSIDE
        if sum(map(is_listed, rows[:-1])) > 1 and (not rows[-2].strip() or not is_listed(rows[-1])):
            found = self._given_by(sentences_of(plain_lines(rows[-1])), kind)
            if found != OUTSIDE:
                return found
        return OUTSIDE if any(map(MISSING.search, sentences)) else self._given_by(sentences, kind)

    def _alone(self, sentences: Sequence[str], kind: int) -> set[int]:
        """Return the codes of the answers that stand alone in a sentence, or between its dashes."""
        pieces = (piece for one in sentences if not is_question(one) for piece in PIECES.split(one))
        short = (bare(piece) for piece in pieces if len(piece) < LONGEST_PIECE)
        return {self._answer(self._without_lead(piece, kind), kind) for piece in short} - {OUTSIDE}

    def _leading(self, sentences: Sequence[str], kind: int, choices: Mapping[str, str]) -> int | None:
        """Return the code of the answer with which a text begins, `OUTSIDE` if it is taken back, None without one."""
        is_caption = self.truths[kind] and ADMITS.match(sentences[0])
        if self.truths[kind]:
            sentences = [BARE_TRUTH.sub(r"\1, ", TRUTH_LEAD.sub("", sentences[0])), *sentences[1:]]
        first = None if is_caption else self._stated(sentences[0], kind, choices, is_marked=False)
        if first is None or first == OUTSIDE:
            return first
        rest = sentences[1:]
        if any(STRONG_RETRACTION.search(one) for one in sentences) or self._is_retracted("\n".join(rest), kind):
            return OUTSIDE
        if self.truths[kind]:
            said = bare(PARENTHESES.sub(" ", sentences[0])) or bare(sentences[0])
            word = re.match(r"\w+", LEAD_IN.sub("", said) or said)
            tail = said[said.find(word[0]) + len(word[0]) :] if word else ""
            is_chat = any(CHAT.search(one) or OFFER.search(one) or GUESSED.search(one) for one in (tail, *rest))
            goes_on = not HAS_WORDS.search(tail) or GOES_ON.match(f"{tail} ")
            is_said = not rest or all(
                GOES_ON.match(f". {one} ") or REMARK_HEADING.match(one) or self._answer(bare(one), kind) == first
                for one in rest[:1]
            )
            return first if goes_on and is_said and not is_chat else OUTSIDE
        is_left = all(map(self._leaves, rest[:1])) and not self._asks_for_other(rest, first, kind)
        is_left = is_left and not self._is_contradicted(rest[:1], first, kind)
        return first if is_left else OUTSIDE

    def _goes_on(self, sentences: Sequence[str], kind: int) -> bool:
        """Return whether a text asks, or goes on searching, after what it says."""
        given = next((at for at, one in enumerate(sentences) if self._given(one, kind) is not None), len(sentences))
        said = [one for one in sentences if not INSTRUCTION.search(one)]
        return (
            not said
            or is_question(said[-1])
            or any(map(STRONG_RETRACTION.search, sentences[given + self.truths[kind] :]))
            or any(map(RETREAT.search, sentences[given + 1 :]))
            or any(GONE.search(one) and self._given(one, kind) is None for one in sentences[given + 1 :])
        )

    def _conclusion(self, sentences: Sequence[str], kind: int) -> int | None:
        """Return the code of the last conclusion's answer, `OUTSIDE` if it has several; None without a conclusion."""
        for sentence in reversed(sentences[-3:]):
            if STRONG_RETRACTION.search(sentence):
                return None
            marks = list(CONCLUSION.finditer(sentence))
            arrow = concluding_arrow(sentences) if self.truths[kind] and sentence is sentences[-1] else None
            if arrow is not None and not self.named(sentence[: arrow.start()]).codes & self.admitted[kind]:
                marks.append(arrow)
            if not marks or not is_asserted(sentence, doubts=not self._has_maybe(kind)):
                continue
            for said in (sentence[marks[-1].end() :], sentence[marks[-1].start() :].lstrip(" ,;:"), sentence):
                code = self._answer(self._without_lead(bare(said), kind), kind)
                if code == OUTSIDE and self.truths[kind]:
                    code = self._answer(bare(said.rpartition(": ")[2]), kind)
                given = self._given(said, kind) if code == OUTSIDE else code
                if given is None and self.truths[kind] and said.strip(DRESS):
                    given = self._leading([said.lstrip(" ,;:")], kind, {})
                if given is not None:
                    return given
        return None

    def _given_by(self, sentences: Sequence[str], kind: int) -> int:
        """Return the code of the only answer that sentences assert; `OUTSIDE` if they assert none or several."""
        if len(sentences) > 1 and any(map(TRUE_THAT.match, sentences)):
            return OUTSIDE
        sentences = [one for one in sentences if not one.startswith("(") or not self._leaves(one)]
        found = {given for one in sentences if (given := self._given(one, kind)) is not None}
        code = found.pop() if len(found) == 1 else OUTSIDE
        at = next((at for at, one in enumerate(sentences) if self._given(one, kind) is not None), 0)
        later = " . ".join(one for one in sentences[at + 1 :] if not EARLIER.search(one))
        named_later = self.named(later)
        return OUTSIDE if (named_later.codes - named_later.denied) & self.admitted[kind] - {code} else code

    def _is_retracted(self, after: str, kind: int) -> bool:
        """Return whether the text after an answer takes it back."""
        return any(
            STRONG_RETRACTION.search(one)
            or RETREAT.search(one)
            or (RETRACTION.search(one) and (self.named(one).codes & self.admitted[kind] or WRONG.search(one)))
            for one in sentences_of(plain_lines(after))
        )

    def _letter(self, text: str, choices: Mapping[str, str], *, is_marked: bool) -> int | None:
        """Return the code of the answer whose letter a text states, `OUTSIDE` for a contradiction, or None."""
        found = stated_letter(text, choices, is_marked=is_marked) if choices else None
        if found is None or not found.letter:
            return None if found is None else OUTSIDE
        code = self.vocabulary.code(choices[found.letter])
        words = self.named(plain_sentence(found.after))
        named = (words.codes - words.denied) & {self.vocabulary.code(choice) for choice in choices.values()}
        return OUTSIDE if named and code not in named else code
