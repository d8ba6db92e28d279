"""The teachers: one discriminator for each shard of people. They are private, and only their votes are used.

All have the same shape, so that they are trained together, each on its own rows: no number of one enters
into those of another (proof: docs/proofs/generators.md, lemma 1).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from discreet.array_types import Integers
from discreet.learning.teachers.shards import check_shards

__all__ = ["Discriminators"]

_HIDDEN = 4
_BATCH = 32
_RATE = 0.02
_BENT = 0.2
"""The slope of a hidden unit below zero."""
_AT_ONCE = 128


class Discriminators:
    """A small network for each shard, which tells its rows from generated ones. Private.

    Parameters
    ----------
    codes : array of int (rows, columns)
        Rows as codes, -1 where a value has none: such a row is left out. Private.
    shards : array of int
        Which teacher sees each row. Private.
    persons : sequence
        Whose each row is. Shards that share a person are refused. Private.
    teachers : int
        How many there are; one without rows votes by its number.
    shape : sequence of int
        How many cells each column has.
    seed : int
        Public: where first weights come from, and which of its rows a teacher sees when.
    """

    def __init__(
        self,
        codes: Integers,
        shards: Integers,
        persons: Sequence[object],
        *,
        teachers: int,
        shape: Sequence[int],
        seed: int,
    ) -> None:
        check_shards(persons, shards, teachers=teachers)
        known = (codes >= 0).all(axis=1)
        held, numbers = codes[known], np.asarray(shards)[known]
        # By shard, and within it by the rows themselves: a teacher does not know in which order they came.
        order = np.lexsort((*held.T[::-1], numbers))
        sizes = np.bincount(numbers, minlength=teachers)
        nobody = np.zeros((1, codes.shape[1]), np.int64)  # what a teacher without rows reads
        self._rows = torch.from_numpy(np.vstack([held[order], nobody]))
        self._sizes = torch.from_numpy(sizes)
        self._firsts = torch.from_numpy(np.where(sizes > 0, np.cumsum(sizes) - sizes, len(held)))
        self._starts = torch.from_numpy(np.cumsum([0, *shape[:-1]]))
        self._teachers, self._width = teachers, sum(shape)
        self._random = random = torch.Generator().manual_seed(seed)
        scale = 0.3 / len(shape) ** 0.5
        self._cells = torch.randn(teachers * self._width, _HIDDEN, generator=random) * scale
        self._inner = torch.zeros(teachers, 1, _HIDDEN)
        self._outer = torch.randn(teachers, _HIDDEN, 1, generator=random) / _HIDDEN**0.5
        self._bias = torch.zeros(teachers, 1)
        trained = [self._cells, self._inner, self._outer, self._bias]
        self._optimizer = torch.optim.Adam([one.requires_grad_() for one in trained], lr=_RATE)

    def train(self, generated: Tensor, steps: int) -> None:
        """Let every teacher take steps: rows of its own against generated ones, half and half."""
        crowd = (self._teachers, _BATCH)
        for _ in range(steps):
            own = self._rows[self._firsts[:, None] + self._chosen(crowd)]
            others = generated[torch.randint(len(generated), crowd, generator=self._random)]
            logits = self._logits(torch.cat([own, others], dim=1))
            # A sum over teachers: the gradient of each is that of its own loss.
            softplus = nn.functional.softplus
            loss = (softplus(-logits[:, :_BATCH]) + softplus(logits[:, _BATCH:])).mean(dim=1).sum()
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()

    def _chosen(self, crowd: tuple[int, int]) -> Tensor:
        """Return which of its own rows each teacher reads: never one of the next shard, by any rounding."""
        level = torch.rand(crowd, generator=self._random, dtype=torch.float64)
        last = (self._sizes[:, None] - 1).clamp_min(0)
        return torch.minimum((level * self._sizes[:, None]).long(), last)

    def votes(self, queries: Tensor) -> Integers:
        """Return the vote of each teacher on each generated row: 1 if it looks more real to it than most do.

        A teacher compares rows with the mean of its own logits over all of them: one for which nothing looks
        real would tell nothing.
        """
        logits = self._logits_of(queries)
        return self._known((logits > logits.mean(dim=1, keepdim=True)).long(), logits.isfinite().all(dim=1))

    def slopes(self, queries: Tensor, directions: Tensor) -> Tensor:
        """Return how fast each teacher's logit grows at each row, in directions over all cells.

        Parameters
        ----------
        queries : tensor (rows, columns)
            Codes of generated rows.
        directions : tensor (cells, directions)
            Public.

        Returns
        -------
        tensor (teachers, rows, directions)
            Zero for a teacher that has no rows, and where numbers are not finite.
        """
        with torch.no_grad():
            cells = self._cells.reshape(self._teachers, self._width, _HIDDEN)
            along = torch.einsum("tch,cd->thd", cells, directions)
            hidden = self._hidden(queries[None].expand(self._teachers, -1, -1))
            slope = torch.where(hidden > 0, 1.0, _BENT) * self._outer[:, None, :, 0]
            found = torch.einsum("tqh,thd->tqd", slope, along)
        found[self._sizes == 0] = 0.0
        return torch.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0)

    def _known(self, votes: Tensor, finite: Tensor) -> Integers:
        """Return votes; those of teachers without rows, or without numbers, are by their number alone."""
        numbers = torch.arange(self._teachers)[:, None] % 2
        sound = (finite & (self._sizes > 0))[:, None]
        return np.asarray(torch.where(sound, votes, numbers).numpy(), dtype=np.int64)

    def _logits_of(self, queries: Tensor) -> Tensor:
        with torch.no_grad():
            parts = [part[None].expand(self._teachers, -1, -1) for part in queries.split(_AT_ONCE)]
            return torch.cat([self._logits(part) for part in parts], dim=1)

    def _logits(self, rows: Tensor) -> Tensor:
        held = nn.functional.leaky_relu(self._hidden(rows), _BENT)
        return (held @ self._outer)[:, :, 0] + self._bias

    def _hidden(self, rows: Tensor) -> Tensor:
        """Return what the hidden units get, for (teachers, rows, columns) codes."""
        teachers, many, columns = rows.shape
        first = torch.arange(teachers)[:, None, None] * self._width
        places = (rows + self._starts + first).reshape(teachers * many, columns)
        # Not embedding_bag: its gradient is added up in the order of a sort over all teachers.
        summed = nn.functional.embedding(places, self._cells).sum(dim=1)
        return summed.reshape(teachers, many, _HIDDEN) + self._inner
