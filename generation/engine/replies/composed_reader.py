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

from generation.engine.replies.assertions import WALKED
from generation.engine.replies.list_grammar import (
    ADDS,
    ALL_BUT,
    APART_FROM,
    ARE_HELD,
    AROUND,
    ARRIVES,
    CARRIES,
    CHATTER,
    CLAUSE_BREAK,
    COUNTED_THINGS,
    DESCRIBED_ROW,
    DOUBLE_STEP,
    EMPTY_HANDS,
    EMPTY_ROW,
    EMPTY_TAIL,
    FENCE,
    FILLER_OF_WALK,
    HARMLESS_REMARK,
    HAS_VERB,
    HEADING,
    HEADING_OF_PATH,
    HEADING_OF_SET,
    IN_BRACKETS,
    JOINED_PARTS,
    LET_GO_ALL,
    LETTERS_ALONE,
    LIST_FRAME,
    LIST_LEAD,
    LIST_REASON,
    LIST_TAIL,
    MORE_PARTS,
    NO_THING,
    NOT_BUT,
    NOT_HELD,
    NOTHING_AS,
    NUMBERED_ROW,
    OPEN_END,
    OTHER_GOAL,
    OTHER_STEP,
    SIGN_OF_ROW,
    STATEMENTS_OF_PATHS,
    STATEMENTS_OF_SETS,
    TAKES_BACK,
    THING,
    TURNS,
    WALK_FRAME,
    WAS_LET_GO,
    WHAT_IS_NOT_HELD,
)
from generation.engine.replies.marked_answers import MarkedAnswer, marked_answers
from generation.engine.replies.reply_frame import CLOSER, OPENER, THOUGHT_LABEL, UNREAD_JSON, breaks_off, is_question
from generation.engine.replies.statements import (
    BULLET,
    CONCLUSION,
    DRESS,
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
from generation.engine.replies.vocabulary import NO_PARTS, NUMBERS, OUTSIDE, ComposedAnswers

SPOILT = OUTSIDE - 1  # what a sentence gives that adds something to a list
LONGEST_CLAUSE = 600  # characters of a clause that may give a list
LONGEST_STRANGER = 4  # words of a part that is not known


class Finding(NamedTuple):
    """A plain sentence, what it gives, the steps that it names, and whether it is a row of a list or a heading.

    `number` is that of a numbered row, 0 without one. `given` is the code of a list, `SPOILT`, `OUTSIDE` for a doubt or
    a question about parts, or None.
    """

    text: str
    given: int | None
    steps: tuple[str, ...] = ()
    is_row: bool = False
    is_heading: bool = False
    number: int = 0

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
        self.frame = LIST_FRAME if form.is_set else WALK_FRAME
        self.heading = HEADING_OF_SET if form.is_set else HEADING_OF_PATH
        self.statements = STATEMENTS_OF_SETS if form.is_set else STATEMENTS_OF_PATHS

    def code(self, text: str) -> int:
        """Return the code of the answer that a text gives; `OUTSIDE` if it gives none."""
        text = FENCE.sub("", text)
        if NO_PARTS.fullmatch(text.strip()):
            return self.form.empty
        if self.hyphenated.search(text.casefold()) or EMPTY_ROW.search(text) or len(set(SIGN_OF_ROW.findall(text))) > 1:
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
        said = plain_sentence(before.text)
        earlier = {self._listed(one) for one in (said, *sentences_of([said])[:1])} - {OUTSIDE}
        return code if earlier <= {code} else OUTSIDE

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
        before = found[:last] if concludes else found[: given[0]]
        if any(TAKES_BACK.search(one.text) for one in before[-1:]):
            return OUTSIDE
        if not concludes and any(one.given is not None for one in before):
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
        if (
            STRONG_RETRACTION.search(said)
            or RETREAT.search(said)
            or (RETRACTION.search(said) and (named or not self.form.is_set))
        ):
            return True
        if TAKES_BACK.search(said):
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
                found += [one._replace(given=OUTSIDE) for one in some] if self._is_of_others(found, some) else some
        if not self.form.is_set:
            found = [one for one in found if not ARRIVES.fullmatch(bare(one.text))]
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
        numbers = [one.number for one in run if one.number]
        is_broken = numbers not in ([], list(range(1, len(run) + 1))) or not _is_chain([one.text for one in run])
        if is_broken or any(one.given == OUTSIDE for one in run):
            return Finding(" ".join(one.text for one in run), SPOILT)
        code = self.form.code_of([part for one in run for part in one.steps or self._parts(one.code)])
        return Finding(" ".join(one.text for one in run), SPOILT if code == OUTSIDE else code, run[0].steps)

    def _of_line(self, line: str, *, is_row: bool) -> list[Finding]:
        """Return what a line gives: as a whole, or its sentences and their clauses."""
        said = BULLET.sub("", plain_sentence(line))
        number = NUMBERED_ROW.match(line)
        at = int(number[1]) if number is not None else 0
        described = DESCRIBED_ROW.fullmatch(said.strip(AROUND)) if BULLET.sub("", line) != line else None
        code = self._listed(described[1] if described is not None else said)
        if code != OUTSIDE:
            return [Finding(said, code, is_row=is_row, number=at)]
        if HEADING.match(line) and not self._named(said):
            return [Finding(said, None, is_heading=True)]
        sentences = (one for one in sentences_of([said]) if not (CLOSER.search(one) or OPENER.match(one)))
        found = [found for sentence in sentences for found in self._of_sentence(sentence)]
        return [one._replace(number=at) for one in found[:1]] + found[1:]

    def _is_of_others(self, found: Sequence[Finding], rows: Sequence[Finding]) -> bool:
        """Return whether a list is below a heading that does not say that it is the answer: `Mary dropped:`."""
        if not rows or not (rows[0].is_row or rows[0].steps):
            return False
        headings = []
        for one in reversed(found):
            if not one.is_heading:
                break
            headings.append(one.text)
        return not all(any(self.heading.fullmatch(form) for form in self._forms(one)) for one in headings)

    def _of_sentence(self, sentence: str) -> list[Finding]:
        found = self._finding(sentence)
        clauses = [one for one in CLAUSE_BREAK.split(sentence) if one.strip(DRESS)]
        is_whole = len(clauses) < 2 or found.given not in (None, SPOILT) or not is_asserted(sentence)
        return [found] if is_whole else [self._finding(clause) for clause in clauses]

    def _finding(self, said: str) -> Finding:
        """Return what a sentence or a clause gives."""
        is_open = OPEN_END.search(said) or ALL_BUT.search(said)
        if is_open or len(said) > LONGEST_CLAUSE or not is_asserted(said):
            return Finding(
                said, self._addition(said) or (OUTSIDE if self._named(said) - self._not_held(said) else None)
            )
        for form in self._forms(said):
            code = self._stated(form)
            if code != OUTSIDE:
                return Finding(said, code if self._agrees(said, code) else OUTSIDE)
            steps = self._steps(form)
            if steps:
                code = self.form.code_of(steps)
                return Finding(said, None if code == OUTSIDE else code, steps)
        return Finding(said, self._addition(said) or self._strange_part(said))

    def _agrees(self, said: str, code: int) -> bool:
        """Return whether a sentence names only its list and what somebody has not, and repeats no other list."""
        own, not_held = self._parts(code), self._not_held(said)
        repeated = {self._listed(one[1] or one[2] or "") for one in IN_BRACKETS.finditer(said)}
        names_more = self.form.is_set and not self._named(said) - not_held <= own
        return not (names_more or own & not_held or repeated - {code, OUTSIDE, self.form.empty})

    def _forms(self, said: str) -> Iterator[str]:
        """Yield a sentence, and the sentence without remarks in brackets, words such as `so`, and reasons."""
        remarks = list(IN_BRACKETS.finditer(said))
        is_plain = remarks and not any(map(self._spoils, remarks))
        for form in (said, *([IN_BRACKETS.sub(" ", said)] if is_plain else [])):
            form = " ".join(form.split()).strip(AROUND)
            yield form
            for _ in range(6):
                frame = self.frame.match(f"{form} ")
                if frame is None or frame.end() >= len(form):
                    break
                form = form[frame.end() :].strip(AROUND)
                yield form
            reason = LIST_REASON.search(form)
            if reason is not None and (NOT_HELD.search(reason[0]) is None or self._not_held(reason[0])):
                yield form[: reason.start()].strip(AROUND)

    def _spoils(self, remark: re.Match[str]) -> bool:
        """Return whether a remark in brackets may change the list before it: `(or the milk)`, `(dropped)`, `[fig]`."""
        inner = (remark[1] or remark[2] or remark[3] or "").strip()
        if remark[3]:
            return True
        if HARMLESS_REMARK.fullmatch(inner):
            return not self.form.is_set and bool(self._named(inner))
        if not self.form.is_set:
            return self._listed(inner) == OUTSIDE and self.form.code_of(self._steps(inner)) == OUTSIDE
        named, not_held = self._named(inner), self._not_held(inner)
        return not named or not named <= not_held

    def _stated(self, said: str) -> int:
        """Return the code of a sentence that is a list, or a known statement around one."""
        nothing = EMPTY_HANDS.fullmatch(said) if self.form.is_set else None
        alone = NOTHING_AS.fullmatch(said) if self.form.is_set else None
        if alone is not None and self._named(said) <= self._not_held(said):
            return self.form.code(alone[1])
        if nothing is not None and EMPTY_TAIL.fullmatch(nothing["tail"] or nothing["end"] or ""):
            return self.form.empty
        code = self._listed(said)
        for pattern in self.statements if code == OUTSIDE else ():
            found = pattern.fullmatch(said)
            code = OUTSIDE if found is None else self._phrase(found)
            if code != OUTSIDE:
                count = COUNTED_THINGS.search(said)
                return OUTSIDE if count is not None and not self._has_parts(code, count[1]) else code
        before, colon, after = said.rpartition(": ")
        if code == OUTSIDE and colon and not self.form.is_set:
            names = [part for part in self.form.word.findall(DOUBLE_STEP.sub(_doubled, before)) if len(part) > 1]
            code = self._listed(after)
            return code if self.form.code_of([self.form.ways[part] for part in names]) == code else OUTSIDE
        return code

    def _phrase(self, found: re.Match[str]) -> int:
        """Return the code of the list in a statement, or of the steps in one."""
        said = found["phrase"] or found["walk"]
        code = self._listed(said)
        return self.form.code_of(self._steps(said)) if code == OUTSIDE and not self.form.is_set else code

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
        said = JOINED_PARTS.sub(" and " if self.form.is_set else " then ", said)
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
        return len(self._parts(code)) == _number(count)

    def _steps(self, said: str) -> tuple[str, ...]:
        """Return the steps of a sentence that only tells how to go: `go north and then west`."""
        said = FILLER_OF_WALK.sub("", DOUBLE_STEP.sub(_doubled, said)).strip(AROUND)
        said = JOINED_PARTS.sub(" then ", said)
        if self.form.is_set or IN_BRACKETS.search(said) or ":" in said or WALKED.pattern.fullmatch(said) is None:
            return ()
        found = [one[1] for one in self.form.word.finditer(said)]
        is_spelt = all(len(one) > 1 for one in found) or len(found) == 1 or LETTERS_ALONE.fullmatch(f"{said} ")
        return tuple([self.form.ways[one] for one in found]) if is_spelt else ()

    def _addition(self, said: str) -> int | None:
        """Return `SPOILT` for a sentence that says that there is more: `also the milk`, `or north`, `and so on`."""
        said = said.strip(AROUND)
        adds = ADDS.match(said)
        if not self.form.is_set and OTHER_STEP.search(said):
            return SPOILT
        is_more = MORE_PARTS.search(said) and (self.form.is_set or self._named(said))
        return SPOILT if is_more or (adds and not (adds["is_weak"] and HAS_VERB.search(said))) else None

    def _strange_part(self, said: str) -> int | None:
        """Return `SPOILT` for a sentence with a part that is not known: `milk`, `she has milk`, `apple with cake`."""
        said = said.strip(AROUND)
        if NOT_HELD.search(said):
            return None
        if HAS_VERB.search(said):
            held = CARRIES.fullmatch(said) or ARE_HELD.fullmatch(said) if self.form.is_set else None
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
        """Return the parts that a sentence says somebody has not, or not any more; none for steps."""
        if not self.form.is_set:
            return frozenset()
        found = [*WHAT_IS_NOT_HELD.finditer(said), *WAS_LET_GO.finditer(said)]
        return frozenset().union(*(self._named(one["what"]) for one in found))


def _is_chain(sentences: Sequence[str]) -> bool:
    """Return whether steps belong to one way: only the first has a goal, or each begins where the last one ended."""
    for before, said in zip(sentences, sentences[1:]):  # noqa: B905, RUF007 - Python 3.9
        start = re.match(r"(?:then |next |and )?,? ?from (?:the )?(\w+)", said)
        if start is not None and not re.search(rf"\b(?:to|in|reach) (?:the )?{start[1]}\b", before):
            return False
        if (start is None and OTHER_GOAL.match(said)) or said.startswith("first") or before.startswith("finally"):
            return False
    return True


def _doubled(found: re.Match[str]) -> str:
    return f"{found[1] or found[2]} {found[1] or found[2]}"


def _number(count: str) -> int:
    if count == "a single":
        return 1
    return int(count) if count.isdigit() else NUMBERS.split().index(count)
