"""The compiled steps of the structured SVM: features, the search for supporting lines, and changes of weights.

A feature is an indicator with a number: the hash of what it indicates, below `FEATURES`. Its weight is the entry of
that number. Words are numbers, and determiners are left out. Only two places in a sentence differ: the first word, and
all later words.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.numba_compiler import njit

FEATURES = 1 << 19
MOST_FEATURES = 40_000  # of one set of lines, or of one answer
FAR = 3  # larger numbers of lines count as this number
LATER = 1  # the place of all words after the first one

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Number = int | np.integer[Any]

# Kinds of features and of tokens. As NumPy's integers they have one type, so that `_mix` is compiled only once.
FACT, FACT_PAIR, FACT_QUESTION, FACT_TRIPLE, FACT_LAST, FACT_NEAR, FACT_RECENT = np.arange(1, 8)
PAIR_SHARED, PAIR_LEFT, PAIR_RIGHT, PAIR_BOTH, PAIR_WORDS, PAIR_BETWEEN, PAIR_MASKS = np.arange(11, 18)
PAIR_ALONE, PAIR_DISTANCE, PAIR_NEAR, PAIR_SHARED_DISTANCE = np.arange(18, 22)
SIZE, CLASS, CLASS_PAIR, CLASS_PLACE, CLASS_QUESTION, CLASS_BIAS = np.arange(22, 28)
COPY, COPY_TOKEN, COPY_QUESTION, COPY_BEFORE, COPY_NONE, COPY_ASKED, COPY_LATEST, COPY_TRIPLE = np.arange(31, 39)
MEMBER, WORD, ASKED, NOT_ASKED, SHARED = np.arange(41, 46)


class Story(NamedTuple):
    """A question with its story.

    Attributes
    ----------
    question : array of int64
        The words of the question.
    starts : array (lines + 1,) of int64
        The start of each line's words in `words`.
    words : array of int64
    answering : array (lines,) of bool
        Whether each line has a word that is an answer.
    """

    question: Ints
    starts: Ints
    words: Ints
    answering: Flags


class FeatureBuffer(NamedTuple):
    """Numbers of features with their values, of which the first `filled[0]` are valid."""

    numbers: Ints
    values: Floats
    filled: Ints


def empty_features() -> FeatureBuffer:
    """Return room for features."""
    return FeatureBuffer(np.zeros(MOST_FEATURES, np.int64), np.zeros(MOST_FEATURES), np.zeros(1, np.int64))


@njit(cache=True)
def _mix(one: Number, other: Number) -> int:
    found = (one ^ (other + 0x9E3779B9)) * 0x100000001B3
    return int(found ^ (found >> 29))


@njit(cache=True)
def _add(found: FeatureBuffer, number: Number, value: float) -> None:
    """Add a feature. It is left out if there is no room, as in a very long story."""
    at = found.filled[0]
    if at < MOST_FEATURES:
        found.numbers[at], found.values[at] = number & (FEATURES - 1), value
        found.filled[0] = at + 1


@njit(cache=True)
def _line(story: Story, line: int) -> Ints:
    return story.words[story.starts[line] : story.starts[line + 1]]


@njit(cache=True)
def _place(words: Ints, word: Number) -> int:
    """Return the position of a word, or -1."""
    for at in range(len(words)):
        if words[at] == word:
            return at
    return -1


@njit(cache=True)
def _coarse(place: int) -> int:
    return min(place, LATER)


@njit(cache=True)
def _tokens(story: Story, line: int, with_absent: bool) -> Ints:
    """Return tokens of a line: its words, and the words of the question that it has, with their places in both.

    With `with_absent`, there are also tokens of the words of the question that the line does not have.
    """
    words, asked = _line(story, line), story.question
    found, count = np.empty(len(words) + len(asked), np.int64), 0
    for word in words:
        found[count] = _mix(WORD, word)
        count += 1
    for at in range(len(asked)):
        place = _place(words, asked[at])
        if place >= 0:
            found[count] = _mix(_mix(ASKED, at), _coarse(place))
            count += 1
        elif with_absent:
            found[count] = _mix(NOT_ASKED, at)
            count += 1
    return found[:count]


@njit(cache=True)
def _later(story: Story, line: int, end: int, word: Number, is_alike: bool) -> int:
    """Return how many lines after `line` and before `end` have a word, at most `FAR`.

    With `is_alike`, only lines count that have an answer if and only if `line` has one.
    """
    found = 0
    for other in range(line + 1, end):
        if not is_alike or story.answering[other] == story.answering[line]:
            found += _place(_line(story, other), word) >= 0
            if found == FAR:
                break
    return found


@njit(cache=True)
def add_line(story: Story, line: int, found: FeatureBuffer) -> None:
    """Add the features of a supporting line with the question."""
    words, asked, n = _line(story, line), story.question, len(story.answering)
    tokens = _tokens(story, line, False)
    for one in range(len(tokens)):
        _add(found, _mix(FACT, tokens[one]), 1.0)
        for other in range(one + 1, len(tokens)):
            _add(found, _mix(_mix(FACT_PAIR, tokens[one]), tokens[other]), 1.0)
        for word in asked:
            pair = _mix(_mix(FACT_QUESTION, tokens[one]), word)
            _add(found, pair, 1.0)
            if one >= len(words):
                for third in words:
                    _add(found, _mix(_mix(pair, FACT_TRIPLE), third), 1.0)
    for at in range(len(asked)):
        place = _place(words, asked[at])
        if place >= 0:
            for is_alike in (False, True):
                count = _later(story, line, n, asked[at], is_alike)
                _add(found, _mix(_mix(_mix(_mix(FACT_RECENT, at), _coarse(place)), count), int(is_alike)), 1.0)
    _add(found, FACT_LAST, (n - 1 - line) / 10)
    _add(found, _mix(FACT_NEAR, min(n - 1 - line, 2)), 1.0)


@njit(cache=True)
def add_pair(story: Story, first: int, second: int, found: FeatureBuffer) -> None:
    """Add the features of two supporting lines, of which `first` is earlier in the story."""
    left, right, asked = _line(story, first), _line(story, second), story.question
    masks: Number = PAIR_MASKS
    are_linked = False
    for at in range(len(asked)):
        masks = _mix(masks, 2 * (_place(left, asked[at]) >= 0) + (_place(right, asked[at]) >= 0))
    _add(found, masks, 1.0)
    for at in range(len(left)):
        place = _place(right, left[at])
        for word in right:
            _add(found, _mix(_mix(PAIR_WORDS, left[at]), word), 1.0)
        if place >= 0:
            are_linked = True
            shared = _mix(_mix(_mix(SHARED, _coarse(at)), _coarse(place)), _place(asked, left[at]))
            _add_shared(story, first, second, left[at], shared, found)
            _add(found, _mix(masks, shared), 1.0)
    if not are_linked:
        _add(found, PAIR_ALONE, 1.0)
    _add(found, PAIR_DISTANCE, (second - first) / 10)
    _add(found, _mix(PAIR_NEAR, min(second - first, 8)), 1.0)


@njit(cache=True)
def _add_shared(story: Story, first: int, second: int, word: int, shared: int, found: FeatureBuffer) -> None:
    """Add the features of two lines with a common word."""
    left, right = _line(story, first), _line(story, second)
    _add(found, _mix(PAIR_SHARED, shared), 1.0)
    for one in left:
        _add(found, _mix(_mix(PAIR_LEFT, shared), one), 1.0)
        for other in right:
            _add(found, _mix(_mix(_mix(PAIR_BOTH, shared), one), other), 1.0)
    for other in right:
        _add(found, _mix(_mix(PAIR_RIGHT, shared), other), 1.0)
    _add(found, _mix(PAIR_SHARED_DISTANCE, shared), (second - first) / 10)
    for is_alike in (False, True):
        count = _later(story, first, second, word, is_alike)
        _add(found, _mix(_mix(_mix(PAIR_BETWEEN, shared), count), int(is_alike)), 1.0)


@njit(cache=True)
def add_lines(story: Story, lines: Ints, found: FeatureBuffer) -> None:
    """Add all features of a set of lines, which must be ascending."""
    for one in range(len(lines)):
        add_line(story, lines[one], found)
        for other in range(one + 1, len(lines)):
            add_pair(story, lines[one], lines[other], found)
    _add(found, _mix(SIZE, len(lines)), 1.0)


@njit(cache=True)
def score_of(weights: Floats, found: FeatureBuffer) -> float:
    """Return the sum of the weights of features."""
    total = 0.0
    for at in range(found.filled[0]):
        total += weights[found.numbers[at]] * found.values[at]
    return total


@njit(cache=True)
def search(weights: Floats, story: Story, most: int, beam: int, gold: Ints, cost: float, found: FeatureBuffer) -> Ints:
    """Return the set of lines with the highest score, ascending, as far as a search with a beam finds it.

    Parameters
    ----------
    weights : array (FEATURES,)
    story : Story
    most : int
        The largest size of a set.
    beam : int
        The number of sets of each size that are extended by one line.
    gold : array of int64
        The right lines, which are used only with a `cost`.
    cost : float
        The number that is added to the score of a set for each wrong or missing line.
    found : FeatureBuffer
        Room for features.
    """
    n = len(story.answering)
    single, pairs, is_filled = np.empty(n), np.zeros((n, n)), np.zeros(n, np.bool_)
    for line in range(n):
        found.filled[0] = 0
        add_line(story, line, found)
        single[line] = score_of(weights, found) + cost * (1.0 if _place(gold, line) < 0 else -1.0)
    sets, scores = np.zeros((1, n), np.bool_), np.full(1, cost * len(gold))
    best, best_score = sets[0], scores[0] + _of_size(weights, 0)
    for size in range(1, min(most, n) + 1):
        gains = np.empty((len(sets), n))
        for one in range(len(sets)):
            for line in range(n):
                if sets[one, line] and not is_filled[line]:
                    _fill(weights, story, line, pairs, found)
                    is_filled[line] = True
            for line in range(n):
                gains[one, line] = _gain(sets[one], line, scores[one] + single[line], pairs)
        sets, scores = _best_sets(sets, gains, beam)
        score = scores[0] + _of_size(weights, size)
        if score > best_score:
            best, best_score = sets[0], score
    return np.flatnonzero(best)


@njit(cache=True)
def _of_size(weights: Floats, size: int) -> float:
    return weights[_mix(SIZE, size) & (FEATURES - 1)]


@njit(cache=True)
def _gain(lines: Flags, line: int, score: float, pairs: Floats) -> float:
    """Return the score of a set with one line more, which is minus infinity if the set has this line."""
    if lines[line]:
        return -np.inf
    for other in range(len(lines)):
        if lines[other]:
            score += pairs[other, line]
    return score


@njit(cache=True)
def _best_sets(sets: Flags, gains: Floats, beam: int) -> tuple[Flags, Floats]:
    """Return the `beam` best different sets that have one line more, the best one first, and their scores.

    `gains` has the scores `(sets, lines)` of all these sets. It is overwritten.
    """
    n = sets.shape[1]
    kept, scores, count = np.zeros((beam, n), np.bool_), np.empty(beam), 0
    while count < beam:
        one, line = 0, 0
        for other in range(len(sets)):
            for at in range(n):
                if gains[other, at] > gains[one, line]:
                    one, line = other, at
        if gains[one, line] == -np.inf:
            break
        for at in range(n):
            kept[count, at] = sets[one, at] or at == line
        scores[count] = gains[one, line]
        gains[one, line] = -np.inf
        count += _is_new(kept, count)
    return kept[:count], scores[:count]


@njit(cache=True)
def _is_new(kept: Flags, count: int) -> bool:
    """Return whether the set at `count` is not among those before it."""
    for other in range(count):
        are_same = True
        for at in range(kept.shape[1]):
            are_same = are_same and kept[other, at] == kept[count, at]
        if are_same:
            return False
    return True


@njit(cache=True)
def _fill(weights: Floats, story: Story, line: int, pairs: Floats, found: FeatureBuffer) -> None:
    """Fill the scores of all pairs with a line."""
    for other in range(len(pairs)):
        if other != line:
            found.filled[0] = 0
            add_pair(story, min(line, other), max(line, other), found)
            pairs[line, other] = score_of(weights, found)


@njit(cache=True)
def add_answer(
    story: Story, lines: Ints, code: int, parts: Ints, starts: Ints, members: Ints, found: FeatureBuffer
) -> None:
    """Add the features of an answer, given its supporting lines.

    Parameters
    ----------
    story : Story
    lines : array of int64
        The supporting lines, ascending.
    code : int
        The number of the answer.
    parts, starts : array of int64
        The words of all answers, and where those of each answer start in `parts`.
    members : array of int64
        Each word that is part of an answer, once.
    found : FeatureBuffer
    """
    asked, own = story.question, parts[starts[code] : starts[code + 1]]
    _add(found, _mix(CLASS_BIAS, code), 1.0)
    for word in asked:
        _add(found, _mix(_mix(CLASS_BIAS, code), word), 1.0)
    for one in range(len(lines)):
        tokens = _tokens(story, lines[one], True)
        place = _mix(min(one, FAR), min(len(lines), FAR + 1))
        for at in range(len(tokens)):
            token = _mix(_mix(CLASS, code), tokens[at])
            _add(found, token, 1.0)
            _add(found, _mix(_mix(CLASS_PLACE, place), token), 1.0)
            for other in range(at + 1, len(tokens)):
                _add(found, _mix(_mix(CLASS_PAIR, token), tokens[other]), 1.0)
            for word in asked:
                _add(found, _mix(_mix(CLASS_QUESTION, token), word), 1.0)
    if len(own) == 1:
        _add_copy(story, lines, own[0], found)
    _add_members(story, lines, own, members, found)


@njit(cache=True)
def _add_copy(story: Story, lines: Ints, word: int, found: FeatureBuffer) -> None:
    """Add the features of an answer that is one word, by the supporting lines that have this word."""
    asked, is_found = story.question, False
    _add(found, _mix(COPY_ASKED, _place(asked, word)), 1.0)
    for one in range(len(lines) - 1, -1, -1):
        words = _line(story, lines[one])
        at = _place(words, word)
        if at >= 0:
            kind = _mix(COPY, _coarse(at))
            place = _mix(_mix(kind, min(one, FAR)), min(len(lines), FAR + 1))
            _add(found, kind, 1.0)
            _add(found, place, 1.0)
            _add(found, _mix(_mix(COPY_LATEST, int(is_found)), kind), 1.0)
            _add(found, _mix(COPY_BEFORE, words[at - 1] if at else -1), 1.0)
            for token in _tokens(story, lines[one], True):
                _add(found, _mix(_mix(COPY_TOKEN, kind), token), 1.0)
                _add(found, _mix(_mix(COPY_TOKEN, place), token), 1.0)
                for asked_word in asked:
                    _add(found, _mix(_mix(_mix(COPY_TRIPLE, kind), token), asked_word), 1.0)
            for asked_word in asked:
                _add(found, _mix(_mix(COPY_QUESTION, place), asked_word), 1.0)
            is_found = True
    if not is_found:
        _add(found, COPY_NONE, 1.0)


@njit(cache=True)
def _add_members(story: Story, lines: Ints, own: Ints, members: Ints, found: FeatureBuffer) -> None:
    """Add the features of the words that are part of an answer or not, by the latest line that has the word."""
    for word in members:
        for one in range(len(lines) - 1, -1, -1):
            words = _line(story, lines[one])
            if _place(words, word) >= 0:
                is_own = _place(own, word) >= 0
                for other in words:
                    if other != word:
                        _add(found, _mix(_mix(MEMBER, int(is_own)), other), 1.0)
                break


@njit(cache=True)
def change(
    weights: Floats,
    sums: Floats,
    right: FeatureBuffer,
    wrong: FeatureBuffer,
    loss: float,
    most: float,
    step: int,
    room: Floats,
) -> None:
    """Change the weights so that `right` scores higher than `wrong` by `loss` more, with a step of at most `most`.

    `sums` has the sum of all changes, each times the number of its step, so that the mean of the weights over all steps
    is `weights - sums / steps`. `room` has an entry of 0 for each feature; `right` and `wrong` are overwritten.

    References
    ----------
    Crammer et al. 2006, Online Passive-Aggressive Algorithms, section 9 and PA-I.
    """
    for at in range(right.filled[0]):
        room[right.numbers[at]] += right.values[at]
    for at in range(wrong.filled[0]):
        room[wrong.numbers[at]] -= wrong.values[at]
    norm = _take_out(right, room) + _take_out(wrong, room)
    if norm > 0:
        size = min(most, loss / norm)
        for found in (right, wrong):
            for at in range(found.filled[0]):
                weights[found.numbers[at]] += size * found.values[at]
                sums[found.numbers[at]] += step * size * found.values[at]


@njit(cache=True)
def _take_out(found: FeatureBuffer, room: Floats) -> float:
    """Move the entries of features from `room` to `found`, each once, and return the sum of their squares."""
    norm = 0.0
    for at in range(found.filled[0]):
        found.values[at] = room[found.numbers[at]]
        room[found.numbers[at]] = 0.0
        norm += found.values[at] ** 2
    return norm


@njit(cache=True)
def best_answer(
    weights: Floats,
    story: Story,
    lines: Ints,
    parts: Ints,
    starts: Ints,
    members: Ints,
    code: int,
    found: FeatureBuffer,
) -> int:
    """Return the answer with the highest score. If `code` is not -1, all other answers score 1 more."""
    best, best_score = 0, -np.inf
    for one in range(len(starts) - 1):
        found.filled[0] = 0
        add_answer(story, lines, one, parts, starts, members, found)
        score = score_of(weights, found) + (1.0 if code >= 0 and one != code else 0.0)
        if score > best_score:
            best, best_score = one, score
    return best
