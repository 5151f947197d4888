"""Fusions of two vectors, for example of a region's features and a question, by products of their projections."""

from typing import Any

from generation.engine.learners.networks.optional_torch import nn


class ProductFusion(nn.Module):
    """Projects both vectors to the same size, multiplies them number by number, and projects the products.

    The projections have no activation: with ReLU or the hyperbolic tangent, which others use, features that are not
    pretrained were learned several times more slowly.

    Parameters
    ----------
    first, second, outputs : int
        The sizes of the vectors and of the result.
    between : int
        The size of the projections.

    References
    ----------
    Kim et al. 2017, Hadamard Product for Low-rank Bilinear Pooling (MLB).
    """

    def __init__(self, first: int, second: int, *, between: int, outputs: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(first, between), nn.Linear(second, between)
        self.outputs = nn.Linear(between, outputs)

    def forward(self, first: Any, second: Any) -> Any:
        """Return `(..., outputs)` for vectors `(..., first)` and `(..., second)`, which may be broadcast."""
        return self.outputs(self.first(first) * self.second(second))


class TuckerFusion(nn.Module):
    """Projects both vectors, and joins the projections by a tensor whose slices have a low rank.

    Result k is the sum of `tensor[i, j, k] * first[i] * second[j]` over i and j, where slice k of the tensor is a sum
    of `rank` products of two vectors. So the result is a sum over ranks of products of two projections.

    References
    ----------
    Ben-younes et al. 2017, MUTAN: Multimodal Tucker Fusion for Visual Question Answering, sections 3.1 and 3.2.
    """

    def __init__(self, first: int, second: int, *, between: int, rank: int, outputs: int) -> None:
        super().__init__()
        self.rank = rank
        self.first, self.second = nn.Linear(first, between), nn.Linear(second, between)
        self.first_ranks = nn.Linear(between, rank * outputs, bias=False)
        self.second_ranks = nn.Linear(between, rank * outputs, bias=False)

    def forward(self, first: Any, second: Any) -> Any:
        """Return `(..., outputs)` for vectors `(..., first)` and `(..., second)`, which may be broadcast."""
        one = self.first_ranks(self.first(first).tanh()).unflatten(-1, (self.rank, -1))
        other = self.second_ranks(self.second(second).tanh()).unflatten(-1, (self.rank, -1))
        return (one * other).sum(dim=-2)
