"""Words as numbers: the input of models. The vocabulary is known before the first question is made."""

import re
from collections.abc import Iterable, Sequence

PADDING, UNKNOWN = 0, 1
MARKS = ("<pad>", "<unknown>")  # the entries of the first two numbers
_WORD = re.compile(r"\w+|[^\w\s]")


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case. Each punctuation mark is a separate word."""
    return _WORD.findall(text.lower())


class Vocabulary:
    """The numbers of words and of answers.

    Parameters
    ----------
    words : iterable of str
        All words, in the form that `split_words` returns, in any order.
    answers : sequence of str
        All answers; code `i` means `answers[i]`.

    Attributes
    ----------
    words : tuple of str
        Number `i` means `words[i]`: 0 is padding, 1 is an unknown word, the others are sorted.
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
        """Return the words for these numbers, separated by spaces, without padding."""
        return " ".join(self.words[number] for number in numbers if number != PADDING)

    def code(self, answer: str | None) -> int:
        """Return an answer's code; -1 for None."""
        return -1 if answer is None else self._codes[answer]
