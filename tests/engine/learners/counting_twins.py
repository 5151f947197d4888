"""A program for the Python with PyTorch: it compares parts of networks that count or verify relations with slow twins.

The twins are loops of NumPy over one element after the other. It prints a line for each part, and the exit status is 1
if a part disagrees.
"""

import sys
from typing import Any

import numpy as np
import torch
import torch.nn.functional  # before networks are imported
from numpy.typing import NDArray

from generation.engine.learners.networks.counting.box_geometry import overlap_of
from generation.engine.learners.networks.counting.counter import CountingComponent, RisingFunction, one_hot
from generation.engine.learners.networks.counting.fusion import ProductFusion, TuckerFusion
from generation.engine.learners.networks.counting.regions import RegionBatch, crops
from generation.engine.learners.networks.counting.relational_counting import PAIR, PairSum, places_of_pairs
from generation.engine.learners.networks.counting.spatial_counting import (
    SelfAttention,
    SpatialCountingConfig,
    SpatialCountingNetwork,
    entropy_of,
)
from generation.engine.learners.networks.encoders import COLOURS
from generation.engine.learners.networks.relations.layers import ACTIVE, HIDDEN, Perceptron
from generation.engine.learners.networks.relations.predicate_boxes import BoxModule, PredicateBoxesConfig
from generation.engine.learners.networks.torch_learner import QuestionBatch
from tests.engine.learners import made_examples
from tests.engine.learners.networks_twins import compare, linear, random, run

Array = NDArray[Any]
CHANCE = np.random.Generator(np.random.PCG64(12))


def relu(vector: Array) -> Array:
    return np.maximum(vector, 0)


def some_boxes(*shape: int) -> Array:
    """Return boxes, of which some have a side of 0."""
    ends = CHANCE.random((*shape, 2, 2)).astype(np.float32)
    boxes = np.concatenate([ends.min(axis=-2), ends.max(axis=-2)], axis=-1)
    boxes[..., 0, 2] = boxes[..., 0, 0]
    return boxes


def overlap(one: Array, other: Array) -> tuple[float, float, float]:
    """Return the shared area, divided by the area of the union and by the area of each box; 0 for no area."""
    width = max(0.0, min(one[2], other[2]) - max(one[0], other[0]))
    height = max(0.0, min(one[3], other[3]) - max(one[1], other[1]))
    first, second = ((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    shared = width * height
    first_share, second_share = (shared / area if area else 0.0 for area in (first, second))
    union = first + second - shared
    return (shared / union if union else 0.0), first_share, second_share


def overlaps() -> None:
    boxes, others = some_boxes(2, 5), some_boxes(2, 4)
    slow = [[[overlap(one, other)[0] for other in others[row]] for one in boxes[row]] for row in range(2)]
    compare(overlap_of(torch.from_numpy(boxes), torch.from_numpy(others)), np.array(slow))


def pixels_of_boxes() -> None:
    """Each pixel of a crop is interpolated between the four nearest pixels of the picture."""
    image, boxes, side = random(1, 1, 6, 9), some_boxes(1, 3), 4
    slow = np.zeros((1, 3, 1, side, side))
    for number, row, column in np.ndindex(3, side, side):
        left, top, right, bottom = boxes[0, number]
        x = (left + (right - left) * (column + 0.5) / side) * 9 - 0.5
        y = (top + (bottom - top) * (row + 0.5) / side) * 6 - 0.5
        x, y = min(max(x, 0.0), 8.0), min(max(y, 0.0), 5.0)
        for at_y in range(6):
            for at_x in range(9):
                weight = max(0.0, 1 - abs(x - at_x)) * max(0.0, 1 - abs(y - at_y))
                slow[0, number, 0, row, column] += weight * image[0, 0, at_y, at_x]
    compare(crops(torch.from_numpy(image), torch.from_numpy(boxes), side), slow)


def product_fusion() -> None:
    """Kim et al. 2017, Hadamard Product for Low-rank Bilinear Pooling."""
    layer = ProductFusion(5, 3, between=4, outputs=2)
    first, second = random(2, 5), random(2, 3)
    slow = [fuse(layer, one, other) for one, other in zip(first, second, strict=True)]
    compare(layer(torch.from_numpy(first), torch.from_numpy(second)), np.array(slow))


def tucker_fusion() -> None:
    """Ben-younes et al. 2017, equations 4 to 8: the full tensor is made, and multiplied with both projections."""
    between, rank, outputs = 4, 3, 2
    layer = TuckerFusion(5, 6, between=between, rank=rank, outputs=outputs)
    one, other = (part.weight.detach().numpy() for part in (layer.first_ranks, layer.second_ranks))
    tensor = np.zeros((between, between, outputs))
    for i, j, k, r in np.ndindex(between, between, outputs, rank):
        tensor[i, j, k] += one[r * outputs + k, i] * other[r * outputs + k, j]
    first, second = 3 * random(2, 5), 3 * random(2, 6)
    slow = np.zeros((2, outputs))
    for row in range(2):
        a, b = np.tanh(linear(layer.first, first[row])), np.tanh(linear(layer.second, second[row]))
        for i, j, k in np.ndindex(between, between, outputs):
            slow[row, k] += tensor[i, j, k] * a[i] * b[j]
    compare(layer(torch.from_numpy(first), torch.from_numpy(second)), slow)


def rising_function(layer: Any, value: float) -> float:
    """Return the function at one value, piece by piece."""
    rises = np.abs(layer.rises.detach().numpy())
    total = 0.0
    for number, rise in enumerate(rises):
        begin, end = number / len(rises), (number + 1) / len(rises)
        total += rise * min(max((value - begin) / (end - begin), 0.0), 1.0)
    return float(total / rises.sum())


def rising_functions() -> None:
    """Zhang et al. 2018, equation 3."""
    layer = RisingFunction(6)
    assert np.allclose(layer(torch.tensor([0.0, 0.3, 1.0])).detach(), [0.0, 0.3, 1.0])
    _change(layer)
    values = CHANCE.random(20).astype(np.float32)
    compare(layer(torch.from_numpy(values)), np.array([rising_function(layer, value) for value in values]))


def _change(module: Any) -> None:
    """Give all parameters of a module other values."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.from_numpy(random(*parameter.shape)))


def slow_counter(component: Any, weights: Array, boxes: Array) -> Array:
    """Zhang et al. 2018, sections 4.1 to 4.4, for one picture. Regions of weight 0 are added if there are too few."""
    missing = max(0, component.objects - len(weights))
    weights, boxes = np.pad(weights, (0, missing)), np.pad(boxes, ((0, missing), (0, 0)))
    order = np.argsort(-weights, kind="stable")[: component.objects]
    a, boxes, n = weights[order], boxes[order], len(order)
    f = [lambda value, layer=layer: rising_function(layer, value) for layer in component.functions]
    distance = [[1 - overlap(boxes[i], boxes[j])[0] for j in range(n)] for i in range(n)]
    alike = np.array([[f[3](a[i] * a[j]) * f[4](distance[i][j]) for j in range(n)] for i in range(n)])
    copies = np.zeros(n)
    for i in range(n):
        for j in range(n):
            same = f[2](1 - abs(a[i] - a[j]))
            for k in range(n):
                same *= f[2](1 - abs(alike[i, k] - alike[j, k]))
            copies[i] += same
    total = 0.0
    for i in range(n):
        total += f[0](a[i] * a[i]) / copies[i]
        for j in range(n):
            total += f[0](a[i] * a[j]) * f[1](distance[i][j]) / copies[i] / copies[j]
    count = min(np.sqrt(total), component.objects)
    sure = np.mean([abs(f[5](one) - 0.5) for one in a])
    sure += np.mean([abs(f[6](distance[i][j]) - 0.5) for i in range(n) for j in range(n)])
    found = np.zeros(component.objects + 1)
    low = int(count)
    found[low] += 1 - (count - low)
    if low < component.objects:
        found[low + 1] += count - low
    return found * f[7](sure)


def counting_component() -> None:
    component = CountingComponent(objects=5, pieces=4)
    for changed in (False, True):
        if changed:
            _change(component)
        for regions in (7, 3):
            weights, boxes = CHANCE.random((3, regions)).astype(np.float32), some_boxes(3, regions)
            slow = [slow_counter(component, *one) for one in zip(weights, boxes, strict=True)]
            compare(component(torch.from_numpy(weights), torch.from_numpy(boxes)), np.array(slow))


def objects_counted_once() -> None:
    """Objects apart are counted exactly, even if some have several boxes: Zhang et al. 2018, section 4.3."""
    component = CountingComponent(objects=6, pieces=16)
    apart = np.array([[0.3 * at, 0, 0.3 * at + 0.2, 0.2] for at in range(3)], np.float32)
    boxes = np.stack([np.concatenate([apart, apart]), np.concatenate([apart, apart[:1], np.zeros((2, 4))])])
    weights = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 0, 0]], np.float32)
    distances = 1 - overlap_of(*[torch.from_numpy(boxes.astype(np.float32))] * 2)
    counts = component.count(torch.from_numpy(weights), distances).detach().numpy()
    assert np.allclose(counts, 3, atol=1e-3), counts
    compare(one_hot(torch.tensor([0.0, 1.25, 9.0]), 3), np.array([[1, 0, 0, 0], [0, 0.75, 0.25, 0], [0, 0, 0, 1.0]]))


def self_attention() -> None:
    layer = SelfAttention(4, 3)
    vectors, present = random(2, 5, 4), np.arange(5) < np.array([[5], [3]])
    slow = np.zeros((2, 5, 4))
    for row, at in np.ndindex(2, 5):
        others = [other for other in range(5) if present[row, other]]
        query = linear(layer.queries, vectors[row, at])
        likeness = [query @ linear(layer.keys, vectors[row, other]) / np.sqrt(3) for other in others]
        shares = np.exp(likeness) / np.exp(likeness).sum()
        taken = sum(
            share * linear(layer.values, vectors[row, other]) for share, other in zip(shares, others, strict=True)
        )
        slow[row, at] = linear(layer.outputs, taken)
    compare(layer(torch.from_numpy(vectors), torch.from_numpy(present)), slow)


def entropy() -> None:
    """Dancette et al. 2020, equation 2, with logarithms to base 2."""
    scores, present = CHANCE.random((3, 6)).astype(np.float32), np.arange(6) < np.array([[6], [2], [0]])
    scores[0, :2] = (0.0, 1.0)
    slow = 0.0
    for row in range(3):
        bits = [-sum(p * np.log2(p) for p in (c, 1 - c) if p > 0) for c in scores[row][present[row]].astype(float)]
        slow += sum(bits) / max(len(bits), 1) / 3
    found = entropy_of(torch.from_numpy(scores), torch.from_numpy(present))
    assert slow > 0.1 and abs(float(found) - slow) < 1e-4, (float(found), slow)


def sum_of_scores() -> None:
    """Dancette et al. 2020, section 3: the count is the sum of the scores of regions that are no padding."""
    config = SpatialCountingConfig(embedding=4, question=5, features=6, fusion=7, hidden=8, attention=3)
    network = SpatialCountingNetwork(config, words=9, share=0.25)
    words, lengths = torch.tensor([[2, 3, 4], [5, 6, 0]]), torch.tensor([3, 2])
    batch = QuestionBatch(made_examples.counts(2), np.arange(2), words, lengths, None, None)
    features, present = random(2, 4, 6), np.arange(4) < np.array([[4], [2]])
    counts, scores = network(batch, RegionBatch(None, torch.from_numpy(present), torch.from_numpy(features)))
    questions = network.question(words, lengths).detach().numpy()
    slow = np.zeros((2, 4))
    for row in range(2):
        fused = [fuse(network.fusion, one, questions[row]) for one in features[row]]
        added = network.attention(
            torch.tensor(np.array([fused]), dtype=torch.float32), torch.from_numpy(present[[row]])
        )
        for at in range(4):
            related = fused[at] + added[0, at].detach().numpy()
            [logit] = fuse(network.score, related, questions[row])
            slow[row, at] = present[row, at] / (1 + np.exp(-logit))
    compare(scores, slow)
    assert np.allclose(counts.detach(), slow.sum(axis=1), atol=1e-5)


def fuse(layer: Any, first: Array, second: Array) -> Array:
    """Return what a product fusion makes of two vectors."""
    return linear(layer.outputs, linear(layer.first, first) * linear(layer.second, second))


def sums_over_pairs() -> None:
    layer = PairSum(3, 2, 4, 5)
    first, second, question = random(2, 3, 3), random(2, 4, 2), random(2, 4)
    boxes, others, weights = some_boxes(2, 3), some_boxes(2, 4), CHANCE.random((2, 3, 4)).astype(np.float32)
    places, slow = np.zeros((2, 3, 4, PAIR)), np.zeros((2, 5))
    for row, i, j in np.ndindex(2, 3, 4):
        places[row, i, j] = [*boxes[row, i], *others[row, j], *overlap(boxes[row, i], others[row, j])]
        pair = linear(layer.first, first[row, i]) + linear(layer.second, second[row, j])
        pair += linear(layer.place, places[row, i, j]) + linear(layer.question, question[row])
        slow[row] += weights[row, i, j] * relu(linear(layer.deeper, relu(pair)))
    fast = places_of_pairs(torch.from_numpy(boxes), torch.from_numpy(others))
    compare(fast, places)
    compare(layer(*map(torch.from_numpy, (first, second)), fast, *map(torch.from_numpy, (question, weights))), slow)


def perceptron() -> None:
    """Bingham et al. 2017, appendix 6.5: 128, 100, 50, 25, 25 and 4 units with ReLU, also after the last layer.

    At first, each unit of the last layer gives about `ACTIVE`, so that it can learn.
    """
    assert HIDDEN == (128, 100, 50, 25, 25, 4)
    vectors = random(40, 9)
    for module in [Perceptron(9) for _ in range(20)]:
        assert (module(torch.from_numpy(vectors)) - ACTIVE).abs().max() < ACTIVE
    slow, module = vectors, _lively(Perceptron(9))
    for layer in (one for one in module.layers if isinstance(one, torch.nn.Linear)):
        slow = np.array([relu(linear(layer, row)) for row in slow])
    assert (slow == 0).any()
    compare(module(torch.from_numpy(vectors)), slow)


def _lively(module: Any) -> Any:
    """Return a module whose linear layers have larger weights, so that its results differ."""
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, torch.nn.Linear):
                layer.weight *= 4
    return module


def box_module() -> None:
    """Bingham et al. 2017, figure 4: the embedding of the label is joined to each pixel, here one after the other."""
    config = PredicateBoxesConfig(filters=(3, 4, 5), label_embedding=2)
    module = _lively(BoxModule(config, labels=4, picture=(11, 9))).eval()
    images, labels = random(2, COLOURS, 11, 9), np.array([[1, 3], [2, 1]])
    slow = np.zeros((2, 2, 4))
    for row, side in np.ndindex(2, 2):
        named = module.embedding.weight.detach().numpy()[labels[row, side]]
        first = _first_convolution(module, images[row], named)
        slow[row, side] = module.rest(torch.tensor(first[None], dtype=torch.float32)).detach().numpy()[0]
    compare(module(torch.from_numpy(images), torch.from_numpy(labels)), slow)


def _first_convolution(module: Any, image: Array, named: Array) -> Array:
    """Return a convolution with stride 2 over an image of which each pixel has the embedding as more channels.

    The weights of these channels are the module's, all in the middle of the filter, so that the edge does not matter.
    """
    weights, bias = module.of_pixels.weight.detach().numpy(), module.of_pixels.bias.detach().numpy()
    _, height, width = image.shape
    joined = np.concatenate([image, np.tile(named[:, None, None], (1, height, width))])
    wide = np.zeros((len(weights), len(joined), 3, 3))
    wide[:, : len(image)] = weights
    wide[:, len(image) :, 1, 1] = module.of_label.weight.detach().numpy()
    found = np.tile(bias[:, None, None].astype(float), (1, (height + 1) // 2, (width + 1) // 2))
    for to, row, column, by, down, right in np.ndindex(*found.shape, len(joined), 3, 3):
        y, x = 2 * row + down - 1, 2 * column + right - 1
        if 0 <= y < height and 0 <= x < width:
            found[to, row, column] += wide[to, by, down, right] * joined[by, y, x]
    return found


TWINS = (
    overlaps,
    pixels_of_boxes,
    product_fusion,
    tucker_fusion,
    rising_functions,
    counting_component,
    objects_counted_once,
    self_attention,
    entropy,
    sum_of_scores,
    sums_over_pairs,
    perceptron,
    box_module,
)


if __name__ == "__main__":
    sys.exit(run(TWINS))
