"""The compiled steps of MemNN: finding lines, choosing words, and the gradient of the loss.

Both steps match what is known so far with candidates. The vector of a text is the sum of the vectors of its features
(words and phrases). A feature has one vector for each of its roles: in the question, in a line that was found, and in a
candidate line. When words are chosen, the last line that was found has a role of its own. With `nonlinear`, two layers
with tanh follow, on both sides of the match.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.numba_compiler import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bits = NDArray[np.bool_]

AFTER, NEWER = 0, 1  # the two vectors of times


class Weights(NamedTuple):
    """The weights of a network, or their gradient.

    Attributes
    ----------
    lines : array (3 * features + 1, size)
        The vectors of the features of questions, of lines that were found, and of candidate lines; and of the end.
    times : array (2, size)
        For a candidate after the last line that was found, and for the newer one of two candidates.
    words : array (3 * features + 2 * words + 1, size)
        The vectors of the features of questions, of lines that were found before the last one, and of the last one; of
        earlier words of the answer, and of candidate words; and of the end.
    layers : array (2, size, size)
        The second layers with which lines and words are matched. They are used with `nonlinear` only.
    """

    lines: Floats
    times: Floats
    words: Floats
    layers: Floats


class StoryQuestions(NamedTuple):
    """Questions with their stories, as numbers.

    Attributes
    ----------
    starts, features : array (sentences + 1,), array of int64
        The start of each sentence's features, and the features: words before phrases.
    questions : array (n,) of int64
        The sentence of each question.
    line_starts, lines : array (n + 1,), array of int64
        The start of each story's lines, and the sentences of its lines, the oldest one first.
    support_starts, supports : array (n + 1,), array of int64
        The start of each question's supporting lines, and their places in the story.
    word_starts, words : array (n + 1,), array of int64
        The start of each answer's words, and the words.
    """

    starts: Ints
    features: Ints
    questions: Ints
    line_starts: Ints
    lines: Ints
    support_starts: Ints
    supports: Ints
    word_starts: Ints
    words: Ints


class Form(NamedTuple):
    """The form of a network.

    Attributes
    ----------
    features, words : int
        The number of features, of which the first ones are words.
    adaptive : bool
        Whether it finds lines and words until it chooses the end.
    nonlinear : bool
    most : int
        The largest number of lines, and with `adaptive` also of words.
    margin : float
        The least difference between the scores of the right candidate and of each other one.
    """

    features: int
    words: int
    adaptive: bool
    nonlinear: bool
    most: int
    margin: float


@njit(cache=True)
def add_vector(table: Floats, asked: StoryQuestions, sentence: int, offset: int, found: Floats) -> None:
    """Add the vectors of a sentence's features, in the role that begins at row `offset`."""
    for place in range(asked.starts[sentence], asked.starts[sentence + 1]):
        found += table[offset + asked.features[place]]


@njit(cache=True)
def spread(gradient: Floats, asked: StoryQuestions, sentence: int, offset: int, change: Floats) -> None:
    """Add the gradient of a sentence's vector to the gradients of its features."""
    for place in range(asked.starts[sentence], asked.starts[sentence + 1]):
        gradient[offset + asked.features[place]] += change


@njit(cache=True)
def activate(total: Floats, layer: Floats, nonlinear: bool) -> Floats:
    """Return the embeddings `(n, size)` of sums of vectors `(n, size)`."""
    return np.tanh(np.tanh(total) @ layer.T) if nonlinear else total.copy()


@njit(cache=True)
def backward(total: Floats, found: Floats, change: Floats, layer: Floats, nonlinear: bool, gradient: Floats) -> Floats:
    """Return the gradients of sums of vectors from those of their embeddings, and add to the layer's gradient."""
    if not nonlinear:
        return change
    outer, inner = change * (1 - found**2), np.tanh(total)
    gradient += outer.T @ inner
    return (outer @ layer) * (1 - inner**2)


@njit(cache=True)
def candidate_lines(weights: Weights, asked: StoryQuestions, row: int, form: Form) -> Floats:
    """Return the sums `(lines + 1, size)` of the vectors of a story's lines as candidates; the last is the end's."""
    first, last = asked.line_starts[row], asked.line_starts[row + 1]
    totals = np.zeros((last - first + 1, weights.lines.shape[1]))
    for at in range(last - first):
        add_vector(weights.lines, asked, asked.lines[first + at], 2 * form.features, totals[at])
    totals[-1] = weights.lines[3 * form.features]
    return totals


@njit(cache=True)
def candidate_words(weights: Weights, form: Form) -> Floats:
    """Return the vectors `(words + 1, size)` of all words as candidates; the last is the end's."""
    return weights.words[3 * form.features + form.words :].copy()


@njit(cache=True)
def line_scores(known: Floats, candidates: Floats, times: Floats, last: int) -> tuple[Floats, float]:
    """Return the scores of candidate lines, and what the newer one of two lines gets in addition.

    `last` is the place of the line that was found last; -1 before the first one.
    """
    scores = candidates @ known
    if last >= 0:
        scores[last + 1 : -1] += times[AFTER] @ known
    return scores, times[NEWER] @ known


@njit(cache=True)
def find_lines(weights: Weights, asked: StoryQuestions, row: int, form: Form) -> Ints:
    """Return the places of the lines that the network finds for a question, in the order in which it finds them."""
    totals = candidate_lines(weights, asked, row, form)
    candidates = activate(totals, weights.layers[0], form.nonlinear)
    n, end = len(totals) - 1, len(totals) - 1
    is_found, found = np.zeros(n, np.bool_), np.zeros(min(form.most, n), np.int64)
    known = np.zeros((1, totals.shape[1]))
    add_vector(weights.lines, asked, asked.questions[row], 0, known[0])
    last = -1
    for hop in range(len(found)):
        scores, newer = line_scores(
            activate(known, weights.layers[0], form.nonlinear)[0], candidates, weights.times, last
        )
        best = -1
        for at in range(n):
            if not is_found[at] and (best < 0 or scores[at] + newer > scores[best]):
                best = at
        if form.adaptive and scores[end] > scores[best]:
            return found[:hop]
        found[hop], is_found[best], last = best, True, best
        add_vector(weights.lines, asked, asked.lines[asked.line_starts[row] + best], form.features, known[0])
    return found


@njit(cache=True)
def choose_words(
    weights: Weights, asked: StoryQuestions, row: int, found: Ints, candidates: Floats, is_answer: Bits, form: Form
) -> Ints:
    """Return the words of the answer to a question whose lines were found.

    `candidates` are the embeddings of `candidate_words`; only words with `is_answer` are chosen.
    """
    known = known_words(weights, asked, row, found, form)
    chosen = np.zeros(form.most if form.adaptive else 1, np.int64)
    for at in range(len(chosen)):
        scores = candidates @ activate(known, weights.layers[1], form.nonlinear)[0]
        best = -1
        for word in range(form.words):
            if is_answer[word] and (best < 0 or scores[word] > scores[best]):
                best = word
        if at and scores[-1] > scores[best]:
            return chosen[:at]
        chosen[at] = best
        known[0] += weights.words[3 * form.features + best]
    return chosen


@njit(cache=True)
def known_words(weights: Weights, asked: StoryQuestions, row: int, found: Ints, form: Form) -> Floats:
    """Return the sum `(1, size)` of the vectors of a question and of the lines that were found."""
    known = np.zeros((1, weights.words.shape[1]))
    add_vector(weights.words, asked, asked.questions[row], 0, known[0])
    for turn, at in enumerate(found):
        offset = (2 if turn == len(found) - 1 else 1) * form.features
        add_vector(weights.words, asked, asked.lines[asked.line_starts[row] + at], offset, known[0])
    return known


@njit(cache=True)
def add_line_gradients(weights: Weights, asked: StoryQuestions, row: int, form: Form, gradient: Weights) -> float:
    """Return the loss of finding the supporting lines of a question, and add its gradient."""
    totals = candidate_lines(weights, asked, row, form)
    candidates = activate(totals, weights.layers[0], form.nonlinear)
    n, first = len(totals) - 1, asked.line_starts[row]
    changes = np.zeros_like(totals)
    supports = asked.supports[asked.support_starts[row] : asked.support_starts[row + 1]]
    hops = min(len(supports) + form.adaptive, form.most)
    is_found, known, last, loss = np.zeros(n + 1, np.bool_), np.zeros((1, totals.shape[1])), -1, 0.0
    is_found[n] = not form.adaptive
    add_vector(weights.lines, asked, asked.questions[row], 0, known[0])
    for hop in range(hops):
        right = supports[hop] if hop < len(supports) else n
        state = activate(known, weights.layers[0], form.nonlinear)
        scores, newer = line_scores(state[0], candidates, weights.times, last)
        slopes, slope_of_newer = np.zeros(n + 1), 0.0
        for at in range(n + 1):
            order = 0 if n in (at, right) else np.sign(right - at)
            lack = form.margin - scores[right] + scores[at] - order * newer
            if at != right and not is_found[at] and lack > 0:
                loss += lack
                slopes[right] -= 1
                slopes[at] += 1
                slope_of_newer -= order
        change = slopes @ candidates + slope_of_newer * weights.times[NEWER]
        gradient.times[NEWER] += slope_of_newer * state[0]
        if last >= 0:
            after = slopes[last + 1 : n].sum()
            change += after * weights.times[AFTER]
            gradient.times[AFTER] += after * state[0]
        for at in range(n + 1):
            if slopes[at]:
                changes[at] += slopes[at] * state[0]
        back = backward(known, state, change.reshape(1, -1), weights.layers[0], form.nonlinear, gradient.layers[0])[0]
        spread(gradient.lines, asked, asked.questions[row], 0, back)
        for before in range(hop):
            spread(gradient.lines, asked, asked.lines[first + supports[before]], form.features, back)
        if right < n:
            is_found[right], last = True, right
            add_vector(weights.lines, asked, asked.lines[first + right], form.features, known[0])
    backs = backward(totals, candidates, changes, weights.layers[0], form.nonlinear, gradient.layers[0])
    for at in range(n):
        if np.any(changes[at] != 0):
            spread(gradient.lines, asked, asked.lines[first + at], 2 * form.features, backs[at])
    gradient.lines[3 * form.features] += backs[n]
    return loss


@njit(cache=True)
def add_word_gradients(
    weights: Weights,
    asked: StoryQuestions,
    row: int,
    candidates: Floats,
    changes: Floats,
    form: Form,
    gradient: Weights,
) -> float:
    """Return the loss of choosing the words of an answer, and add its gradient.

    The gradients of the embeddings `candidates` are added to `changes`. Without `adaptive`, the network can't give an
    answer of several words, so such an answer has no loss.
    """
    words = asked.words[asked.word_starts[row] : asked.word_starts[row + 1]]
    found = asked.supports[asked.support_starts[row] : asked.support_starts[row + 1]]
    if not form.adaptive:
        found = found[: form.most]
    if len(words) == 0 or (len(words) > 1 and not form.adaptive):
        return 0.0
    known, loss, first = known_words(weights, asked, row, found, form), 0.0, asked.line_starts[row]
    end = len(candidates) - 1
    for turn in range(len(words) + form.adaptive):
        right = words[turn] if turn < len(words) else end
        state = activate(known, weights.layers[1], form.nonlinear)
        scores, slopes = candidates @ state[0], np.zeros(end + 1)
        for at in range(end + form.adaptive):
            lack = form.margin - scores[right] + scores[at]
            if at != right and lack > 0:
                loss += lack
                slopes[right] -= 1
                slopes[at] += 1
        change = (slopes @ candidates).reshape(1, -1)
        changes += slopes.reshape(-1, 1) * state
        back = backward(known, state, change, weights.layers[1], form.nonlinear, gradient.layers[1])[0]
        spread(gradient.words, asked, asked.questions[row], 0, back)
        for hop, at in enumerate(found):
            offset = (2 if hop == len(found) - 1 else 1) * form.features
            spread(gradient.words, asked, asked.lines[first + at], offset, back)
        for earlier in words[:turn]:
            gradient.words[3 * form.features + earlier] += back
        if right < end:
            known[0] += weights.words[3 * form.features + right]
    return loss


@njit(cache=True)
def add_gradients(weights: Weights, asked: StoryQuestions, rows: Ints, form: Form, gradient: Weights) -> float:
    """Return the sum of the losses of some questions, and add its gradient."""
    totals, loss = candidate_words(weights, form), 0.0
    candidates = activate(totals, weights.layers[1], form.nonlinear)
    changes = np.zeros_like(totals)
    for row in rows:
        loss += add_line_gradients(weights, asked, row, form, gradient)
        loss += add_word_gradients(weights, asked, row, candidates, changes, form, gradient)
    backs = backward(totals, candidates, changes, weights.layers[1], form.nonlinear, gradient.layers[1])
    gradient.words[3 * form.features + form.words :] += backs
    return loss


@njit(cache=True)
def change(weights: Floats, gradient: Floats, sums: Floats, rate: float) -> None:
    """Change the rows `(rows, size)` that have a gradient by one step of Adagrad, and set the gradient to 0.

    References
    ----------
    Duchi, Hazan and Singer 2011, Adaptive Subgradient Methods, section 1.
    """
    for row in range(len(weights)):
        if np.any(gradient[row] != 0):
            sums[row] += gradient[row] ** 2
            weights[row] -= rate * gradient[row] / (np.sqrt(sums[row]) + 1e-8)
            gradient[row] = 0
