r"""Replies whose answer has parts: sets, such as what somebody carries, and sequences, such as the steps of a path.

A list is read only as a whole. A sentence gives an answer if it is a list of known parts (`The apple and the milk.`) or
a known statement around one (`Mary carries the apple and the milk.`, `Go north and then west.`). No other sentence may
change that: add something (`Also the milk.`), give another list, or take something back.
/docs/predictions/#free-text has the rules as a table with examples.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from generation.engine.replies.assertions import LEAD, WALKED
from generation.engine.replies.list_grammar import (
    ADDS,
    ALL_BUT,
    APART_FROM,
    AROUND,
    CARRIES,
    CHATTER,
    CLAUSE_BREAK,
    CLAUSE_OR_COLON,
    COUNTED_THINGS,
    CROSSED,
    DOUBLE_STEP,
    HAS_VERB,
    HEADING,
    IN_BRACKETS,
    LET_GO_ALL,
    LIST_LEAD,
    LIST_REASON,
    LIST_TAIL,
    MORE_PARTS,
    NO_THING,
    NOT_BUT,
    NOT_HELD,
    ONE_STEP,
    OPEN_END,
    REACHES,
    REMARK_SPOILS,
    STATEMENTS_OF_PATHS,
    STATEMENTS_OF_SETS,
    THING,
    TURNS,
    UNSURE_SUBJECT,
    WALK_LEAD,
    WHAT_IS_NOT_HELD,
)
from generation.engine.replies.marked_answers import MarkedAnswer, marked_answers
from generation.engine.replies.reply_frame import CLOSER, OPENER, THOUGHT_LABEL, UNREAD_JSON, breaks_off, is_question
from generation.engine.replies.statements import (
    BULLET,
    CONCLUSION,
    DRESS,
    EMPTY_HANDED,
    REJECTED,
    RETRACTION,
    RETREAT,
    STRONG_RETRACTION,
    bare,
    is_asserted,
    is_refusal,
    plain_sentence,
    sentences_of,
)
from generation.engine.replies.vocabulary import NUMBERS, OUTSIDE, ComposedAnswers

SPOILT = OUTSIDE - 1  # what a sentence gives that adds something to a list
LONGEST_CLAUSE = 600  # characters of a clause that may give a list
LONGEST_STRANGER = 4  # words of a part that is not known


class Finding(NamedTuple):
    """A plain sentence, what it gives, the steps that it names, and whether it is a row of a list or a heading.

    `given` is the code of a list, `SPOILT`, `OUTSIDE` for a doubt or a question about parts, or None.
    """

    text: str
    given: int | None
    steps: tuple[str, ...] = ()
    is_row: bool = False
    is_heading: bool = False

    @property
    def code(self) -> int:
        """Return the code of the list; `OUTSIDE` without one."""
        return OUTSIDE if self.given is None or self.given < 0 else self.given


class ComposedReader:
    """Reads replies to questions whose answers are sets or sequences; `form` reads single lists."""

    def __init__(self, form: ComposedAnswers) -> None:
        self.form = form
        words = "|".join(sorted(map(re.escape, form.ways), key=len, reverse=True))
        self.article = re.compile(rf"\b(?:the|an?|some|her|his|their) (?=[\"']?(?:{words})(?!\w))")
        self.hyphenated = re.compile(rf"\b(?:{words})[-–](?:{words})\b")
        self.clause_break = CLAUSE_BREAK if form.is_set else CLAUSE_OR_COLON
        self.statements = STATEMENTS_OF_SETS if form.is_set else STATEMENTS_OF_PATHS

    def code(self, text: str) -> int:
        """Return the code of the answer that a text gives; `OUTSIDE` if it gives none."""
        if self.hyphenated.search(text.casefold()):
            return OUTSIDE
        marks = marked_answers(text)
        marked = next(marks, None)
        if marked is None:
            return self._told(text)
        code = self._marked(marked)
        before = next(marks, None)
        if code == OUTSIDE or before is None or before.text is None:
            return code
        between = plain_sentence(before.between)
        if any(pattern.search(between) for pattern in (RETRACTION, STRONG_RETRACTION, NOT_HELD)):
            return code
        earlier = self._listed(plain_sentence(before.text if before.is_delimited else before.value))
        return code if earlier in (code, OUTSIDE) else OUTSIDE

    def _marked(self, marked: MarkedAnswer) -> int:
        """Return the code of a marked answer, unless the text after it changes it."""
        if marked.text is None:
            return OUTSIDE
        if marked.is_delimited:
            code, later = self._listed(plain_sentence(marked.text)), self._findings(marked.after)
            code = self._told(marked.text) if code == OUTSIDE else code
            return OUTSIDE if later and REJECTED.match(later[0].text) else self._left(code, later)
        found = self._findings(f"{marked.text}\n{marked.after}", is_row=marked.is_below)
        return self._left(found[0].code, found[1:]) if found else OUTSIDE

    def _told(self, text: str) -> int:
        """Return the code of the only list that the sentences of a text without marks give.

        A conclusion (`So she has the apple.`) counts whatever is before it.
        """
        found = self._findings(text)
        given = [at for at, one in enumerate(found) if one.code != OUTSIDE]
        is_unfit = UNREAD_JSON.match(text) or THOUGHT_LABEL.match(text) or any(is_refusal(one.text) for one in found)
        if not given or is_unfit or is_question(found[-1].text):
            return OUTSIDE
        last = given[-1]
        if breaks_off(text, [one.text for one in found]) and last < len(found) - 1:
            return OUTSIDE
        concludes = CONCLUSION.search(found[last].text) is not None
        if not concludes and any(one.given is not None for one in found[: given[0]]):
            return OUTSIDE
        code, later = found[last].code, found[last if concludes else given[0] :]
        others = [one for one in later if one.given != code]
        named = frozenset().union(*(self._named(one.text) - self._not_held(one.text) for one in others))
        if any(one.given is not None for one in others) or (self.form.is_set and not named <= self._parts(code)):
            return OUTSIDE
        return self._left(code, later)

    def _left(self, code: int, later: Sequence[Finding]) -> int:
        """Return the code of a list; `OUTSIDE` if a later sentence adds something, or takes the list back."""
        is_changed = any(one.given != code and self._changes(code, one) for one in later)
        return OUTSIDE if is_changed else code

    def _changes(self, code: int, later: Finding) -> bool:
        said, own, named = later.text, self._parts(code), self._named(later.text)
        if later.steps or later.code != OUTSIDE:
            return True
        if later.given == SPOILT and not (named and named <= own and HAS_VERB.search(said)):
            return True
        if STRONG_RETRACTION.search(said) or RETREAT.search(said) or (RETRACTION.search(said) and named):
            return True
        return bool(own & self._not_held(said)) or (bool(own) and LET_GO_ALL.search(said) is not None)

    def _findings(self, text: str, *, is_row: bool = True) -> list[Finding]:
        """Return what the sentences of a text give. Rows with one part each, and single steps, become one list.

        `is_row` says whether the first line may be a row.
        """
        found: list[Finding] = []
        for line in text.split("\n"):
            if line.strip(DRESS):
                some = self._of_line(line, is_row=is_row or bool(found))
                found += [one._replace(given=OUTSIDE) for one in some] if _is_of_others(found, some) else some
        joined: list[Finding] = []
        for is_part, rows in groupby(found, key=self._is_part):
            run = list(rows)
            joined += [self._joined(run)] if is_part and len(run) > 1 else run
        return joined

    def _is_part(self, one: Finding) -> bool:
        return one.is_row and len(self._parts(one.code)) == 1 if self.form.is_set else bool(one.steps)

    def _joined(self, run: Sequence[Finding]) -> Finding:
        """Return the list whose parts or steps stand in sentences that follow each other."""
        if run[0].steps and all(one.given == run[0].code for one in run):
            return run[0]
        code = self.form.code_of([part for one in run for part in one.steps or self._parts(one.code)])
        return Finding(" ".join(one.text for one in run), SPOILT if code == OUTSIDE else code, run[0].steps)

    def _of_line(self, line: str, *, is_row: bool) -> list[Finding]:
        """Return what a line gives: as a whole, or its sentences and their clauses."""
        said = BULLET.sub("", plain_sentence(line))
        code = self._listed(said)
        if code != OUTSIDE:
            return [Finding(said, code, is_row=is_row)]
        if HEADING.match(line) and not self._named(said):
            return [Finding(said, None, is_heading=True)]
        sentences = (one for one in sentences_of([said]) if not (CLOSER.search(one) or OPENER.match(one)))
        return [found for sentence in sentences for found in self._of_sentence(sentence)]

    def _of_sentence(self, sentence: str) -> list[Finding]:
        found = self._finding(sentence)
        clauses = [one for one in self.clause_break.split(sentence) if one.strip(DRESS)]
        is_whole = len(clauses) < 2 or found.given not in (None, SPOILT) or not is_asserted(sentence)
        return [found] if is_whole else [self._finding(clause) for clause in clauses]

    def _finding(self, said: str) -> Finding:
        """Return what a sentence or a clause gives."""
        is_open = OPEN_END.search(said) or ALL_BUT.search(said)
        if is_open or len(said) > LONGEST_CLAUSE or not is_asserted(said):
            return Finding(said, self._addition(said) or (OUTSIDE if self._named(said) else None))
        for form in self._forms(said):
            code = self._stated(form)
            if code != OUTSIDE:
                names_more = self.form.is_set and not self._named(said) <= self._parts(code)
                return Finding(said, OUTSIDE if names_more and not NOT_HELD.search(said) else code)
            steps = self._steps(form)
            if steps:
                code = self.form.code_of(steps)
                return Finding(said, None if code == OUTSIDE else code, steps)
        return Finding(said, self._addition(said) or self._strange_part(said))

    def _forms(self, said: str) -> Iterator[str]:
        """Yield a sentence, and the sentence without remarks in brackets, words such as `so`, and reasons."""
        remarks = list(IN_BRACKETS.finditer(said))
        is_plain = remarks and not any(map(self._spoils, remarks))
        for form in (said, *([IN_BRACKETS.sub(" ", said)] if is_plain else [])):
            form = " ".join(form.split()).strip(AROUND)
            yield form
            for _ in range(6):
                lead = LEAD.match(f"{form} ") or (None if self.form.is_set else WALK_LEAD.match(form))
                if lead is None or lead.end() >= len(form):
                    break
                form = form[lead.end() :].strip(AROUND)
                yield form
            if LIST_REASON.search(form):
                yield LIST_REASON.sub("", form).strip(AROUND)

    def _spoils(self, remark: re.Match[str]) -> bool:
        """Return whether a remark in brackets changes the list before it: `(or the milk)`, `(dropped)`, `[fig]`."""
        inner = remark[1] or remark[2] or ""
        if remark[3] or REMARK_SPOILS.search(inner) or MORE_PARTS.search(inner):
            return True
        return self.form.is_set and bool(self._named(inner)) == (NOT_HELD.search(inner) is None) and inner != ""

    def _stated(self, said: str) -> int:
        """Return the code of a sentence that is a list, or a known statement around one."""
        if self.form.is_set and EMPTY_HANDED.fullmatch(said):
            return self.form.empty
        code = self._listed(said)
        for pattern in self.statements if code == OUTSIDE else ():
            found = pattern.fullmatch(said)
            if found is None or NOT_HELD.search(found["subject"]) or UNSURE_SUBJECT.search(found["subject"]):
                continue
            code = self._listed(found["phrase"])
            count = COUNTED_THINGS.search(found["subject"])
            if code != OUTSIDE:
                return OUTSIDE if count is not None and not self._has_parts(code, count[1]) else code
        return code

    def _listed(self, said: str) -> int:
        """Return the code of a text that is a list as a whole: `the apple and the milk`, `just the milk`, `nothing`."""
        if OPEN_END.search(said):
            return OUTSIDE
        said = said.strip(AROUND)
        code = self._plain_list(said)
        if code != OUTSIDE:
            return code
        not_but, apart_from = NOT_BUT.fullmatch(said), APART_FROM.fullmatch(said)
        if not_but is not None:
            return self._listed(not_but[2]) if self._is_named(not_but[1]) else OUTSIDE
        if apart_from is not None:
            return self._listed(apart_from[1]) if self._is_named(apart_from[2]) else OUTSIDE
        lead = LIST_LEAD.match(said)
        code = self._plain_list(LIST_TAIL.sub("", said[lead.end() if lead else 0 :]))
        is_miscounted = lead is not None and lead["count"] and not self._has_parts(code, lead["count"])
        return OUTSIDE if is_miscounted else code

    def _plain_list(self, said: str) -> int:
        code = self.form.code(said)
        return self.form.code(bare(self.article.sub("", said))) if code == OUTSIDE else code

    def _is_named(self, said: str) -> bool:
        """Return whether a text is a list, or a part alone."""
        return self._plain_list(said) != OUTSIDE or bare(self.article.sub("", said)) in self.form.ways

    def _has_parts(self, code: int, count: str) -> bool:
        return len(self._parts(code)) == (int(count) if count.isdigit() else NUMBERS.split().index(count))

    def _steps(self, said: str) -> tuple[str, ...]:
        """Return the steps of a sentence that only tells how to go: `go north and then west`."""
        said = DOUBLE_STEP.sub(r"\1 \1", ONE_STEP.sub("", REACHES.sub("", said)))
        if self.form.is_set or IN_BRACKETS.search(said) or ":" in said or WALKED.pattern.fullmatch(said) is None:
            return ()
        found = [one[1] for one in self.form.word.finditer(said)]
        is_spelt = all(len(one) > 1 for one in found) or len(found) == 1
        return tuple([self.form.ways[one] for one in found]) if is_spelt else ()

    def _addition(self, said: str) -> int | None:
        """Return `SPOILT` for a sentence that says that there is more: `also the milk`, `or north`, `and so on`."""
        said = said.strip(AROUND)
        adds = ADDS.match(said)
        is_more = MORE_PARTS.search(said) and (self.form.is_set or self._named(said))
        return SPOILT if is_more or (adds and not (adds["is_weak"] and HAS_VERB.search(said))) else None

    def _strange_part(self, said: str) -> int | None:
        """Return `SPOILT` for a sentence with a part that is not known: `milk`, `she has milk`, `apple with cake`."""
        said = said.strip(AROUND)
        if NOT_HELD.search(said):
            return None
        if HAS_VERB.search(said):
            held = CARRIES.fullmatch(said) if self.form.is_set else None
            is_part = held is not None and (THING.fullmatch(held["phrase"]) or self._named(held["phrase"]))
            return SPOILT if held is not None and is_part and not NO_THING.match(held["phrase"]) else None
        words = [word for word in re.findall(r"[^\W_]+", said) if word not in ("the", "a", "an")]
        is_thing = 0 < len(words) <= LONGEST_STRANGER and CHATTER.isdisjoint(words)
        is_strange = is_thing if self.form.is_set else TURNS.search(said) is not None
        return SPOILT if is_strange or self._named(said) else None

    def _parts(self, code: int) -> frozenset[str]:
        return frozenset(self.form.parts.get(code, ()))

    def _named(self, said: str) -> frozenset[str]:
        """Return the known parts that a text names; a single letter counts only among words that are as short."""
        is_short = max(map(len, re.findall(r"\w+", said)), default=0) <= 4
        found = self.form.word.finditer(said.casefold())
        return frozenset(self.form.ways[one[1]] for one in found if len(one[1]) > 1 or is_short)

    def _not_held(self, said: str) -> frozenset[str]:
        """Return the parts that a sentence says somebody has not, or not any more."""
        return frozenset().union(*(self._named(found["what"]) for found in WHAT_IS_NOT_HELD.finditer(said)))


def is_crossed(text: str) -> bool:
    """Return whether a text crosses something out: `apple ✓, fig ✗`, `~~apple~~`."""
    return CROSSED.search(text) is not None


def _is_of_others(found: Sequence[Finding], rows: Sequence[Finding]) -> bool:
    """Return whether a list is below a heading for other things: `Mary dropped:`."""
    if not found or not found[-1].is_heading or not rows or not rows[0].is_row:
        return False
    return NOT_HELD.search(found[-1].text) is not None or UNSURE_SUBJECT.search(found[-1].text) is not None
