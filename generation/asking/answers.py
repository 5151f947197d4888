"""Answers in replies, read by the site's own reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from generation.asking.console import Refused
from generation.engine.replies.reply_reader import ReplyReader
from generation.engine.replies.thoughts import split_thoughts, with_plain_marks
from generation.engine.replies.vocabulary import OUTSIDE, AnswerVocabulary, recognised_form


class AnswerReader:
    """Reads answers from replies by fixed rules, without a judge. Only answers of the vocabulary are accepted.

    Answers with several parts, such as `apple,milk`, are recognised by the possible answers to the questions.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        choices: Iterable[tuple[str, ...]] = (),
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        if not vocabulary:
            raise Refused(
                "Expected the possible answers of the split, got none: the site lacks the world of this dataset."
            )
        self.answers = tuple(vocabulary)
        self.kinds = {some: kind for kind, some in enumerate(dict.fromkeys([(), *choices]))}
        self.is_count = self.answers == tuple(map(str, range(len(self.answers))))
        known = AnswerVocabulary(
            self.answers,
            [recognised_form(some) for some in self.kinds],
            most_counted=len(self.answers) - 1 if self.is_count else None,
            synonyms=synonyms,
        )
        every = range(len(self.answers))
        codes = [[known.exact[choice] for choice in some if choice in known.exact] or every for some in self.kinds]
        self.reader = ReplyReader(known, codes)

    def read(self, text: str, choices: tuple[str, ...], letters: Mapping[str, str] | None = None) -> str | None:
        """Return the answer that a reply gives, or None.

        `choices` are the possible answers to the question, and `letters` has the answers that letters stand for.
        """
        code = self.reader.code(text, self.kinds.get(choices, 0), choices=letters)
        return None if code == OUTSIDE else self.answers[code]


def unknown_mark_in(reply: str) -> str:
    # The first of a pair of marks around most of a reply that are not known, for example `<muse>`.
    return with_plain_marks(split_thoughts(reply).said).unknown_mark
