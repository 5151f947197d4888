"""What a file of predictions has to answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import AnswerForm
from generation.engine.replies.vocabulary import AnswerVocabulary

if TYPE_CHECKING:
    from generation.engine.replies.reply_reader import ReplyReader


@dataclass(frozen=True, eq=False)
class ExpectedAnswers:
    """The questions that a prediction file must answer, and their possible answers.

    Attributes
    ----------
    name : str
        Used in messages.
    n : int
        The number of questions.
    vocabulary : tuple of str
        All answers; code `i` means `vocabulary[i]`.
    sources : array (n,) of bytes, or None
        The published ids of the questions; empty for a question without one.
    kinds : array (n,) of integers
        The kind of each question, as a position in `admitted`.
    admitted : tuple of tuples of int
        For each kind of question, the codes of its possible answers.
    forms : tuple of AnswerForm
        The answer form of each kind of question, in the order of `admitted`; empty if the forms are not known.
    most_counted : int or None
        The largest count, if the answers of the world are counts. Then any number may be an answer, which is rounded
        to the nearest count from 0 to this one, and predictions may have boxes. None for other worlds.
    sizes : array (n, 2) of integers, or None
        Width and height of each question's picture in pixels, within which boxes must be; 0 if they are not known.
    synonyms : mapping of str to str
        Other words for answers and for their parts, as `World.synonyms` gives them.
    truth : array (n,) of integers, or None
        The codes of the right answers. A file with exactly these is asked which of its columns has the answers of the
        model. None if the answers are unknown or withheld.
    exported : frozenset of str
        The columns of the split's exports besides the usual ones.
    """

    name: str
    n: int
    vocabulary: tuple[str, ...]
    sources: NDArray[np.bytes_] | None
    kinds: NDArray[np.integer]
    admitted: tuple[tuple[int, ...], ...]
    forms: tuple[AnswerForm, ...] = ()
    most_counted: int | None = None
    sizes: NDArray[np.integer] | None = None
    synonyms: Mapping[str, str] = field(default_factory=dict)
    truth: NDArray[np.integer] | None = None
    exported: frozenset[str] = frozenset()

    @cached_property
    def reader(self) -> "ReplyReader":
        """Return the reader of free-text replies to these questions."""
        from generation.engine.replies.reply_reader import ReplyReader  # a tenth of the start of each process

        vocabulary = AnswerVocabulary(
            self.vocabulary,
            [form.composed for form in self.forms],
            most_counted=self.most_counted,
            synonyms=self.synonyms,
        )
        return ReplyReader(vocabulary, self.admitted)

    @property
    def has_boxes(self) -> bool:
        """Return whether predictions may have boxes."""
        return self.most_counted is not None
