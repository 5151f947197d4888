"""A program for the Python with PyTorch: it compares parts of networks with slow twins, and prints a line for each.

The twins are loops of NumPy over one element after the other. The exit status is 1 if a part disagrees.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional  # before networks are imported
from numpy.typing import NDArray

from generation.engine.learners.networks.answering.captions import Multiplication
from generation.engine.learners.networks.answering.compact_bilinear import (
    ROOT_OFFSET,
    CompactPooling,
    circular_convolution,
    count_sketch,
)
from generation.engine.learners.networks.answering.film import modulate
from generation.engine.learners.networks.answering.relation_network import Pairs
from generation.engine.learners.networks.answering.stacked_attention import Attention
from generation.engine.learners.networks.encoders import MeanOfWords, QuestionEncoder, with_coordinates
from generation.engine.learners.networks.picture_learner import see_once
from generation.engine.learners.networks.torch_learner import QuestionBatch
from tests.engine.learners import made_examples

Array = NDArray[Any]
CHANCE = np.random.Generator(np.random.PCG64(11))
TOLERANCE = 1e-5


def random(*shape: int) -> Array:
    return CHANCE.normal(size=shape).astype(np.float32)


def compare(fast: Any, slow: Array) -> None:
    """Fail if a tensor is not the array of the twin, or if the array is trivial."""
    found = fast.detach().numpy()
    assert found.shape == slow.shape, f"{found.shape} is not {slow.shape}"
    assert np.ptp(slow) > 0.1, "the twin has the same value everywhere"
    assert np.allclose(found, slow, atol=TOLERANCE), f"differs by {np.abs(found - slow).max()}"


def linear(layer: Any, vector: Array) -> Array:
    """Return what a linear layer makes of one vector, element by element."""
    weights = layer.weight.detach().numpy()
    found = np.zeros(len(weights)) if layer.bias is None else layer.bias.detach().numpy().astype(float)
    for to, by in np.ndindex(weights.shape):
        found[to] += weights[to, by] * vector[by]
    return found


def attention() -> None:
    """Yang et al. 2016, equations 15 to 18."""
    layer = Attention(5, 7)
    places, query = random(3, 4, 5), random(3, 5)
    slow = []
    for row in range(3):
        of_query = linear(layer.of_query, query[row])
        scores = [linear(layer.weigh, np.tanh(linear(layer.of_place, one) + of_query))[0] for one in places[row]]
        total = sum(np.exp(score) for score in scores)
        slow.append(sum(np.exp(score) / total * one for score, one in zip(scores, places[row], strict=True)))
    compare(layer(torch.from_numpy(places), torch.from_numpy(query)), np.array(slow))


def sketch_of(vector: Array, places: Array, signs: Array, length: int) -> Array:
    found = np.zeros(length)
    for value, place, sign in zip(vector, places, signs, strict=True):
        found[place] += sign * value
    return found


def convolved(one: Array, two: Array) -> Array:
    found = np.zeros(len(one))
    for at, first in enumerate(one):
        for by, second in enumerate(two):
            found[(at + by) % len(one)] += first * second
    return found


def count_sketches() -> None:
    vectors, places, signs = random(3, 9), CHANCE.integers(4, size=9), CHANCE.choice([-1.0, 1.0], 9)
    fast = count_sketch(*(torch.from_numpy(one) for one in (vectors, places, signs.astype(np.float32))), length=4)
    compare(fast, np.array([sketch_of(vector, places, signs, 4) for vector in vectors]))


def circular_convolutions() -> None:
    for length in (1, 6, 7):
        one, two = random(4, length), random(4, length)
        slow = np.array([convolved(*pair) for pair in zip(one, two, strict=True)])
        compare(circular_convolution(torch.from_numpy(one), torch.from_numpy(two)), slow)


def sketches_of_products() -> None:
    """The convolution of two sketches is the sketch of all products; Fukui et al. 2016, section 3.1."""
    torch.manual_seed(3)
    layer = CompactPooling(5, 6, sketch=8)
    first, second = random(3, 5), random(3, 6)
    arrays = [one.numpy() for one in (layer.first_places, layer.first_signs, layer.second_places, layer.second_signs)]
    slow = []
    for row in range(3):
        found = np.zeros(8)
        for at, one in enumerate(first[row]):
            for by, two in enumerate(second[row]):
                found[(arrays[0][at] + arrays[2][by]) % 8] += arrays[1][at] * arrays[3][by] * one * two
        rooted = np.sign(found) * np.sqrt(np.abs(found) + ROOT_OFFSET)
        slow.append(rooted / np.sqrt(np.sum(rooted**2)))
    compare(layer(torch.from_numpy(first), torch.from_numpy(second)), np.array(slow))


def modulation() -> None:
    features, scale, shift = random(2, 3, 4, 5), random(2, 3), random(2, 3)
    slow = np.zeros_like(features)
    for row, channel, down, right in np.ndindex(features.shape):
        factor = 1 + scale[row, channel]
        slow[row, channel, down, right] = factor * features[row, channel, down, right] + shift[row, channel]
    compare(modulate(*(torch.from_numpy(one) for one in (features, scale, shift))), slow)


def pairs() -> None:
    """The perceptron over joined vectors of each pair and the question; Santoro et al. 2017, equation 1."""
    layer = Pairs(3, 4, units=(6, 5))
    objects, question = random(2, 3, 3), random(2, 4)
    parts = (layer.first, layer.second, layer.question)
    joined = torch.nn.Linear(10, 6)
    joined.weight.data = torch.cat([part.weight for part in parts], dim=1)
    joined.bias.data = layer.question.bias
    slow = []
    for row in range(2):
        found = np.zeros(5)
        for one in objects[row]:
            for two in objects[row]:
                first = np.maximum(linear(joined, np.concatenate([one, two, question[row]])), 0)
                found += np.maximum(linear(layer.rest[0], first), 0)
        slow.append(found)
    compare(layer(torch.from_numpy(objects), torch.from_numpy(question)), np.array(slow))


def coordinates() -> None:
    features = random(2, 3, 4, 5)
    slow = np.zeros((2, 5, 4, 5))
    slow[:, :3] = features
    for down, right in np.ndindex(4, 5):
        slow[:, 3, down, right] = -1 + 2 * down / 3
        slow[:, 4, down, right] = -1 + 2 * right / 4
    compare(with_coordinates(torch.from_numpy(features)), slow)


def multiplication() -> None:
    layer = Multiplication(6, 4)
    world, caption = random(3, 6), random(3, 4)
    slow = [one * linear(layer.scale, two) for one, two in zip(world, caption, strict=True)]
    compare(layer(torch.from_numpy(world), torch.from_numpy(caption)), np.array(slow))


def mean_of_words() -> None:
    layer = MeanOfWords(9, embedding=4)
    words, lengths = torch.tensor([[3, 5, 0], [2, 2, 8]]), torch.tensor([2, 3])
    vectors = layer.vectors.weight.detach().numpy()
    compare(layer(words, lengths), np.array([vectors[[3, 5]].mean(0), vectors[[2, 2, 8]].mean(0)]))


def recurrent_reader() -> None:
    """The gates of an LSTM, one word after the other; words after the end of a text change nothing."""
    layer = QuestionEncoder(9, embedding=3, units=4)
    words, lengths = torch.tensor([[3, 5, 0], [2, 2, 8]]), torch.tensor([2, 3])
    vectors, reader = layer.vectors.weight.detach().numpy(), layer.reader
    weights = [
        getattr(reader, f"{kind}_l0").detach().numpy() for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    slow = []
    for text in ([3, 5], [2, 2, 8]):
        state, cell = np.zeros(4), np.zeros(4)
        for word in text:
            gates = weights[0] @ vectors[word] + weights[1] @ state + weights[2] + weights[3]
            take, keep, new, show = np.split(gates, 4)
            cell = cell / (1 + np.exp(-keep)) + np.tanh(new) / (1 + np.exp(-take))
            state = np.tanh(cell) / (1 + np.exp(-show))
        slow.append(state)
    compare(layer(words, lengths), np.array(slow))


def pictures_seen_once() -> None:
    """What is seen once for several questions is what would be seen for each, and so are the slopes."""
    examples = made_examples.pictures(3)
    items = np.array([2, 0, 2, 1, 0])
    images = torch.from_numpy(examples.images[items]).permute(0, 3, 1, 2).float() / 255
    see = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3), torch.nn.Flatten())
    chosen = examples.select(items)
    batch = QuestionBatch(chosen, np.arange(5), None, None, images, None)
    slopes = []
    for found in (see_once(see, batch), see(images)):
        see.zero_grad()
        (found**2).sum().backward()
        slopes.append(see[0].weight.grad.numpy().copy())
    assert np.allclose(*slopes, rtol=1e-4)
    compare(see_once(see, batch), np.stack([see(image[None])[0].detach().numpy() for image in images]))


TWINS = (
    attention,
    count_sketches,
    circular_convolutions,
    sketches_of_products,
    modulation,
    pairs,
    coordinates,
    multiplication,
    mean_of_words,
    recurrent_reader,
    pictures_seen_once,
)


def run(twins: Sequence[Callable[[], None]]) -> int:
    """Print a line for each twin; return 1 if a part disagrees, else 0."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(1)
    failed = 0
    for twin in twins:
        try:
            twin()
        except AssertionError as error:
            failed = 1
            sys.stdout.write(f"{twin.__name__}: disagrees: {error}\n")
        else:
            sys.stdout.write(f"{twin.__name__}: agrees\n")
    return failed


if __name__ == "__main__":
    sys.exit(run(TWINS))
