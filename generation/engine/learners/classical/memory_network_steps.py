"""The compiled steps of the memory network: embedding sentences, answering, and the gradient of the loss.

Shapes: `hops + 1` tables `(words, size)` of embeddings and as many tables `(memory, size)` of times. With adjacent
tying, hop `h` matches with tables `h` and reads with tables `h + 1`; questions are embedded by table 0, and answers are
scored by the rows of the last table.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.numba_compiler import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Network(NamedTuple):
    """The weights of a memory network.

    Attributes
    ----------
    words : array (hops + 1, words, size)
    times : array (hops + 1, memory, size)
        The vector that is added to a sentence for its time. The latest line has time 0.
    """

    words: Floats
    times: Floats


class EncodedSentences(NamedTuple):
    """Sentences as numbers of words.

    Attributes
    ----------
    starts : array (sentences + 1,) of int64
        The start of each sentence's words in `words`.
    words : array of int64
    """

    starts: Ints
    words: Ints


class StoryQuestions(NamedTuple):
    """Questions with their stories.

    Attributes
    ----------
    questions : array (n,) of int64
        The sentence of each question.
    lines : array (n, memory) of int64
        The sentences of each story, from the latest backwards.
    counts : array (n,) of int64
        The number of lines.
    times : array (n, memory) of int64
        The time of each line.
    """

    questions: Ints
    lines: Ints
    counts: Ints
    times: Ints


@njit(cache=True)
def embed(sentences: EncodedSentences, used: Ints, words: Floats) -> Floats:
    """Return the embeddings `(hops + 1, sentences, size)` of the sentences `used`; other sentences have zeros.

    References
    ----------
    Sukhbaatar et al. 2015, section 4.1, position encoding.
    """
    tables, _, size = words.shape
    found = np.zeros((tables, len(sentences.starts) - 1, size))
    for one in used:
        start, length = sentences.starts[one], sentences.starts[one + 1] - sentences.starts[one]
        for place in range(length):
            word = sentences.words[start + place]
            constant, slope = _position(place, length, size)
            for table in range(tables):
                for at in range(size):
                    found[table, one, at] += (constant - (at + 1) * slope) * words[table, word, at]
    return found


@njit(cache=True)
def spread(sentences: EncodedSentences, used: Ints, change: Floats, gradient: Floats) -> None:
    """Add the gradients `change` of the embeddings of sentences to the gradients of the words."""
    tables, _, size = gradient.shape
    for one in used:
        start, length = sentences.starts[one], sentences.starts[one + 1] - sentences.starts[one]
        for place in range(length):
            word = sentences.words[start + place]
            constant, slope = _position(place, length, size)
            for table in range(tables):
                for at in range(size):
                    gradient[table, word, at] += (constant - (at + 1) * slope) * change[table, one, at]


@njit(cache=True)
def _position(place: int, length: int, size: int) -> tuple[float, float]:
    """Return two numbers by which the word at a place is weighted: at entry `k` it is `constant - k * slope`."""
    share = (place + 1) / length
    return 1 - share, (1 - 2 * share) / size


@njit(cache=True)
def answer(
    network: Network,
    embedded: Floats,
    asked: StoryQuestions,
    row: int,
    is_linear: bool,
    states: Floats,
    weights: Floats,
) -> None:
    """Fill the states `(hops + 1, size)` for one question, and the weights `(hops, memory)` of its lines."""
    hops, count, size = len(network.words) - 1, asked.counts[row], network.words.shape[2]
    for at in range(size):
        states[0, at] = embedded[0, asked.questions[row], at]
    for hop in range(hops):
        for line in range(count):
            sentence, time, match = asked.lines[row, line], asked.times[row, line], 0.0
            for at in range(size):
                match += states[hop, at] * (embedded[hop, sentence, at] + network.times[hop, time, at])
            weights[hop, line] = match
        if not is_linear:
            _softmax(weights[hop, :count])
        for at in range(size):
            states[hop + 1, at] = states[hop, at]
        for line in range(count):
            sentence, time, weight = asked.lines[row, line], asked.times[row, line], weights[hop, line]
            for at in range(size):
                read = embedded[hop + 1, sentence, at] + network.times[hop + 1, time, at]
                states[hop + 1, at] += weight * read


@njit(cache=True)
def _softmax(values: Floats) -> float:
    """Replace values by their shares, and return the logarithm of the sum of their exponentials."""
    largest, total = -np.inf, 0.0
    for at in range(len(values)):
        largest = max(largest, values[at])
    for at in range(len(values)):
        values[at] = np.exp(values[at] - largest)
        total += values[at]
    for at in range(len(values)):
        values[at] /= total
    return largest + np.log(total)


@njit(cache=True)
def _product(one: Floats, other: Floats) -> float:
    total = 0.0
    for at in range(len(one)):
        total += one[at] * other[at]
    return total


@njit(cache=True)
def scores_of(network: Network, embedded: Floats, asked: StoryQuestions, answers: Ints, is_linear: bool) -> Floats:
    """Return the scores `(n, answers)` of the answers, which are given by their words."""
    tables, size = len(network.words), network.words.shape[2]
    states, weights = np.empty((tables, size)), np.empty((tables - 1, asked.lines.shape[1]))
    found = np.empty((len(asked.questions), len(answers)))
    for row in range(len(asked.questions)):
        answer(network, embedded, asked, row, is_linear, states, weights)
        for code in range(len(answers)):
            found[row, code] = _product(network.words[tables - 1, answers[code]], states[tables - 1])
    return found


@njit(cache=True)
def add_gradients(
    network: Network,
    embedded: Floats,
    asked: StoryQuestions,
    answers: Ints,
    codes: Ints,
    is_linear: bool,
    change: Floats,
    gradient: Network,
) -> float:
    """Return the sum of the cross-entropies of some questions, and add its gradients.

    Gradients by embeddings of sentences are added to `change`, and gradients by times and answers to `gradient`.
    """
    tables, size = len(network.words), network.words.shape[2]
    states, weights = np.empty((tables, size)), np.empty((tables - 1, asked.lines.shape[1]))
    loss = 0.0
    for row in range(len(codes)):
        answer(network, embedded, asked, row, is_linear, states, weights)
        back = np.zeros(size)
        loss += _answer_gradients(network.words[-1], states[-1], answers, codes[row], gradient.words[-1], back)
        for hop in range(tables - 2, -1, -1):
            back = _hop_gradients(
                network, embedded, asked, row, hop, is_linear, states[hop], weights[hop], back, change, gradient
            )
        for at in range(size):
            change[0, asked.questions[row], at] += back[at]
    return loss


@njit(cache=True)
def _answer_gradients(words: Floats, state: Floats, answers: Ints, code: int, gradient: Floats, back: Floats) -> float:
    """Return the cross-entropy of one question, and add its gradients by the last table and by the last state."""
    scores = np.empty(len(answers))
    for one in range(len(answers)):
        scores[one] = _product(words[answers[one]], state)
    own = scores[code]
    loss = _softmax(scores) - own
    for one in range(len(answers)):
        slope = scores[one] - (1.0 if one == code else 0.0)
        for at in range(len(state)):
            gradient[answers[one], at] += slope * state[at]
            back[at] += slope * words[answers[one], at]
    return loss


@njit(cache=True)
def _hop_gradients(
    network: Network,
    embedded: Floats,
    asked: StoryQuestions,
    row: int,
    hop: int,
    is_linear: bool,
    state: Floats,
    weights: Floats,
    back: Floats,
    change: Floats,
    gradient: Network,
) -> Floats:
    """Return the gradient by the state before a hop, from the gradient `back` by the state after it. Add the others."""
    count, size = asked.counts[row], len(state)
    slopes, mean = np.empty(count), 0.0
    for line in range(count):
        sentence, time, slope = asked.lines[row, line], asked.times[row, line], 0.0
        for at in range(size):
            slope += back[at] * (embedded[hop + 1, sentence, at] + network.times[hop + 1, time, at])
            change[hop + 1, sentence, at] += weights[line] * back[at]
            gradient.times[hop + 1, time, at] += weights[line] * back[at]
        slopes[line] = slope
        mean += weights[line] * slope
    found = back.copy()
    for line in range(count):
        sentence, time = asked.lines[row, line], asked.times[row, line]
        slope = slopes[line] if is_linear else weights[line] * (slopes[line] - mean)
        for at in range(size):
            found[at] += slope * (embedded[hop, sentence, at] + network.times[hop, time, at])
            change[hop, sentence, at] += slope * state[at]
            gradient.times[hop, time, at] += slope * state[at]
    return found
