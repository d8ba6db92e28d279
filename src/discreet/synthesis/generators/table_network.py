"""The generator: a network from normal numbers to a distribution of every column. It never meets a row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from discreet.array_types import Floats
from discreet.synthesis.generators.generated_model import GeneratedModel, Layer

__all__ = ["LATENT", "TableNetwork", "one_hot"]

LATENT = 16
"""How many normal numbers a row is made of."""
_HIDDEN = 64
_QUIET = 0.1
"""How large the last weights are at first, so that rows begin with what the biases say."""
_LEAST = 1e-9
_NEVER = -1e9
"""The logit of a cell that a column does not have."""


class TableNetwork(nn.Module):
    """Two hidden layers, and a softmax for every column.

    Parameters
    ----------
    shape : sequence of int
        How many cells each column has.
    shares : sequence of arrays
        Public: what the columns look like at first, shares above zero.
    random : torch.Generator
        Public: where weights and normal numbers come from.
    """

    def __init__(self, shape: Sequence[int], shares: Sequence[Floats], random: torch.Generator) -> None:
        super().__init__()
        self._random, self._most = random, max(shape)
        ends = np.cumsum(shape)
        places = torch.zeros(len(shape), self._most, dtype=torch.long)
        self._absent = torch.ones(len(shape), self._most, dtype=torch.bool)
        for column, (end, cells) in enumerate(zip(ends.tolist(), shape, strict=True)):
            places[column, :cells] = torch.arange(end - cells, end)
            self._absent[column, :cells] = False
        self._places, self._present = places, (~self._absent).reshape(-1).nonzero()[:, 0]
        widths = [LATENT, _HIDDEN, _HIDDEN, int(ends[-1])]
        self._weights = nn.ParameterList()
        self._biases = nn.ParameterList()
        for before, after in pairwise(widths):
            scale = (2 / before) ** 0.5 if after != widths[-1] else _QUIET / before**0.5
            self._weights.append(nn.Parameter(torch.randn(before, after, generator=random) * scale))
            self._biases.append(nn.Parameter(torch.zeros(after)))
        self._first = torch.from_numpy(np.concatenate(list(shares))).float()
        with torch.no_grad():
            self._biases[-1].copy_(torch.log(self._first))

    def latent(self, rows: int) -> Tensor:
        """Return normal numbers for some rows."""
        return torch.randn(rows, LATENT, generator=self._random)

    def logits(self, latent: Tensor) -> Tensor:
        """Return the logits of all cells: rows, columns, and as many cells as the largest column has."""
        held = latent
        for weights, bias in zip(self._weights[:-1], self._biases[:-1], strict=True):
            held = torch.relu(held @ weights + bias)
        found = held @ self._weights[-1] + self._biases[-1]
        return found[:, self._places].masked_fill(self._absent, _NEVER)

    def probabilities(self, latent: Tensor) -> Tensor:
        """Return the probability of every cell: one line for each row, columns one after the other."""
        return self._joined(torch.softmax(self.logits(latent), dim=-1))

    def drift(self, latent: Tensor) -> Tensor:
        """Return how far the columns are from what they were at first: the sum of their divergences."""
        now = self.probabilities(latent).mean(dim=0)
        return (self._first * torch.log(self._first / now.clamp_min(_LEAST))).sum()

    def rows(self, latent: Tensor) -> Tensor:
        """Return drawn rows of codes."""
        with torch.no_grad():
            return (self.logits(latent) + self._gumbel(len(latent))).argmax(dim=-1)

    def drawn_one_hot(self, latent: Tensor) -> Tensor:
        """Return drawn rows as zeros and ones, through which gradients pass as through a softmax."""
        soft = torch.softmax(self.logits(latent) + self._gumbel(len(latent)), dim=-1)
        hard = nn.functional.one_hot(soft.argmax(dim=-1), self._most)
        return self._joined(hard + soft - soft.detach())

    def model(self, total: float) -> GeneratedModel:
        """Return the network as it is, as a model of rows."""
        layers = tuple(
            Layer(weights=weights.detach().double().numpy(), bias=bias.detach().double().numpy())
            for weights, bias in zip(self._weights, self._biases, strict=True)
        )
        shape = tuple((~self._absent).sum(dim=1).tolist())
        return GeneratedModel(shape=shape, layers=layers, total=total)

    def _gumbel(self, rows: int) -> Tensor:
        """Return noise whose largest sum with logits is a draw from their softmax."""
        uniform = torch.rand(rows, *self._places.shape, generator=self._random)
        return -torch.log(-torch.log(uniform.clamp(1e-12, 1 - 1e-7)))

    def _joined(self, cells: Tensor) -> Tensor:
        return cells.reshape(len(cells), -1)[:, self._present]


def one_hot(codes: Tensor, shape: Sequence[int]) -> Tensor:
    """Return rows of codes as zeros and ones, columns one after the other."""
    starts = torch.from_numpy(np.cumsum([0, *shape[:-1]]))
    found = torch.zeros(len(codes), sum(shape))
    return found.scatter_(1, codes + starts, 1.0)
