"""Words as numbers: what models are fed of questions, known before the first one is made."""

import re
from collections.abc import Iterable, Sequence

PADDING, UNKNOWN = 0, 1
MARKS = ("<pad>", "<unknown>")  # what stands for the first numbers
_WORD = re.compile(r"\w+|[^\w\s]")


def split_words(text: str) -> list[str]:
    """Return the words of a text in small letters; each mark is a word of its own."""
    return _WORD.findall(text.lower())


class Vocabulary:
    """Numbers for words, and for answers.

    Parameters
    ----------
    words : iterable of str
        Every word there is, as `split_words` gives them; in any order, which does not matter.
    answers : sequence of str
        Every answer there is; code `i` means `answers[i]`.

    Attributes
    ----------
    words : tuple of str
        Number `i` means `words[i]`: 0 is padding, 1 a word that isn't known, the others are sorted.
    answers : tuple of str
    """

    def __init__(self, words: Iterable[str], answers: Sequence[str]) -> None:
        self.words = (*MARKS, *sorted(set(words)))
        self.answers = tuple(answers)
        self._numbers = {word: number for number, word in enumerate(self.words) if number > UNKNOWN}
        self._codes = {answer: code for code, answer in enumerate(self.answers)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's words."""
        return [self._numbers.get(word, UNKNOWN) for word in split_words(text)]

    def decode(self, numbers: Iterable[int]) -> str:
        """Return the words that numbers stand for, with spaces between them; padding is left out."""
        return " ".join(self.words[number] for number in numbers if number != PADDING)

    def code(self, answer: str | None) -> int:
        """Return an answer's code; -1 where there is none."""
        return -1 if answer is None else self._codes[answer]
