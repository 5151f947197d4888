"""Answers of several parts: a set's are said in any order, a sequence's in theirs, parted in whatever way people part.

Between parts stand commas, semicolons, spaces, `and`, `then`, or arrows; around them may be brackets, around each part
quotes. Each part stands there once in a set.
"""

import re
from collections.abc import Collection, Sequence

from generation.engine.items import AnswerForm, AnswerKind
from generation.engine.scoring.score import OUTSIDE

JOINTS = r"(?: ?(?:[,;&]|->|→) ?(?:and |then )?| and | and then | then | )"
NONE_OF_IT = re.compile(r"\[ ?\]|\{ ?\}|\( ?\)")


class Composed:
    """Knows how the answers of one form are said; `codes` are those of the vocabulary, parts in small letters."""

    def __init__(self, form: AnswerForm, codes: dict[str, int]) -> None:
        self.is_set = form.kind == AnswerKind.SET
        self.empty = codes.get(form.empty, OUTSIDE) if form.empty else OUTSIDE
        self.nothing = form.empty.casefold()
        apart = {answer: self._key([part.casefold() for part in form.taken_apart(answer)]) for answer in form.choices}
        self.codes = {key: codes[answer] for answer, key in apart.items() if key and answer in codes}
        self.parts = {code: key for key, code in self.codes.items()}
        parts = sorted((re.escape(part.casefold()) for part in form.parts), key=len, reverse=True)
        one = f"[\"']?({'|'.join(parts)})[\"']?"
        self.part = re.compile(rf"{one}(?:{JOINTS}|$)")

    def _key(self, parts: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted(parts)) if self.is_set else tuple(parts)

    def code(self, said: str) -> int:
        """Return the code of the answer that a text says, in small letters and single spaces; `OUTSIDE` for none."""
        if NONE_OF_IT.fullmatch(said):
            return self.empty
        if said[:1] in "[({" and said[-1:] in "])}":
            said = said[1:-1].strip()
        if said.strip("\"' ") == self.nothing:
            return self.empty
        found: list[str] = []
        at = 0
        while at < len(said):
            part = self.part.match(said, at)
            if part is None or len(found) > len(self.codes):
                return OUTSIDE
            found.append(part[1])
            at = part.end()
        return self.codes.get(self._key(found), OUTSIDE)

    def together(self, named: Collection[int]) -> int:
        """Return the code of a set that has what each of some answers has; `OUTSIDE` where there is no such set."""
        if not self.is_set or self.empty in named or any(code not in self.parts for code in named):
            return OUTSIDE
        return self.codes.get(tuple(sorted({part for code in named for part in self.parts[code]})), OUTSIDE)
