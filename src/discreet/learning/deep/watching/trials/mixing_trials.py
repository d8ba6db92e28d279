"""Trials of whether the losses of some examples have a gradient at others, and when there are enough.

A trial chooses one half of the examples of a batch, adds up their losses, and looks at the gradient that
arrives at every layer: it must be 0 at all others. Trials come in pairs, a secret random half and then the
other one, so that everybody is chosen in one and left out in the other, and any two places are told apart in
a pair with probability 1/2 or 1.

A trial tells nothing of a layer to which no gradient arrives: below a head that begins with zeros, behind a
gate that is closed, or where numbers are not finite. So pairs go on, one in a step that tells of something,
until every layer that losses reach was told of in two of them, before and after an update; and not longer
than `_MOST_PAIRS`, for a layer that stays dead. In a loop there is one more pair when the number of steps has
doubled, again and again, for what begins later.

Where the graph of the losses proves that examples are kept apart (`separate_examples`), that is as good as a
trial that tells of all layers. A loop is looked at in every batch: if its graph proves that no more, it is
tried out at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from hashlib import shake_256
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discreet.learning.deep.watching.arriving_slopes import Backward, hand_over_slopes
from discreet.learning.deep.watching.first_axis import refused_mixing
from discreet.learning.deep.watching.layer_calls import WatchedLayer
from discreet.noise import current

__all__ = ["MixingTrials"]

_PAIRS = 2  # that have to tell of a layer
_MOST_PAIRS = 16  # that are made for layers of which none has told
_AT_ONCE = 1 << 22  # slopes that are looked at then: all of a layer would take as much memory again


class MixingTrials:
    """Says when a batch is to be tried out, and tries it out.

    Parameters
    ----------
    agree : callable
        Takes whether something is so in this process, and returns whether it is so in all that must go on
        together.

    Attributes
    ----------
    is_enough : bool
        Whether enough was tried out for all batches that are computed in the same way. It never ends.
    """

    def __init__(self, agree: Callable[[bool], bool] = bool) -> None:
        self._agree, self.is_enough = agree, False
        self._step, self._next, self._last = 0, 0, -1
        self._pairs, self._is_half_done, self._was_proven = 0, False, False
        self._key = b""
        self._reached, self._first = set[str](), set[str]()
        self._told = Counter[str]()

    def begin_step(self) -> None:
        """Note that all batches from now on are of another step."""
        self._step += 1
        self._draw_key()

    def is_due(self, weights: Tensor, *, is_proven: bool = False) -> bool:
        """Whether a batch with these weights, 0 for padding, is to be tried out now.

        It is if it is one of those that always are, or if its graph does not prove any more that examples are
        kept apart.
        """
        is_planned = self._is_planned(weights)
        if is_proven:
            self._was_proven = True
            return is_planned
        is_new = self._was_proven and _is_telling(weights)
        self._was_proven = self._was_proven and not is_new
        return is_new or is_planned

    def _is_planned(self, weights: Tensor) -> bool:
        if not _is_telling(weights):
            return False
        if self._is_half_done:
            return True
        return self._step >= self._next if self.is_enough else self._step > self._last

    def try_out(
        self,
        calls: list[tuple[WatchedLayer, list[Any]]],
        losses: Tensor,
        weights: Tensor,
        asked: set[int],
        backward: Backward,
    ) -> None:
        """Refuse a model where the losses of some examples have a gradient at others.

        Parameters
        ----------
        calls : list
            The layers that were called, and where the gradients of what they returned arrive.
        losses, weights : tensors
        asked : set of int
            As for `hand_over_slopes`.
        backward : callable
        """
        rows = weights.cpu().nonzero()[:, 0]
        chosen = torch.zeros(len(losses), dtype=torch.bool)
        chosen[rows[self._half(len(rows))]] = True
        told = set[str]()

        def check(place: int, slopes: list[Tensor | None]) -> None:
            layer = calls[place][0]
            self._reached.add(layer.name)
            for slope in slopes:
                if slope is None or slope.dim() == 0 or len(slope) != len(losses):
                    continue
                has_numbers, is_finite = _looked_at(slope)
                own = chosen.to(slope.device)
                if (has_numbers & ~own).any():
                    raise refused_mixing(layer)
                if (has_numbers & is_finite & own).any():
                    told.add(layer.name)

        some = losses[chosen.to(losses.device)].sum()
        hand_over_slopes([edges for _, edges in calls], some, asked, check, backward)
        self._note(told)

    def note_proof(self, layers: set[str]) -> None:
        """Count a batch with these layers as tried out: its graph keeps examples apart."""
        if not self._is_half_done:
            self._begin_pair()
        self._reached |= layers
        self._note(layers)

    def _begin_pair(self) -> None:
        self._pairs, self._last, self._next = self._pairs + 1, self._step, 1 << self._step.bit_length()

    def _draw_key(self) -> None:
        """Draw what all coins are made from, at the same time whichever batches are tried out."""
        self._key = self._key or current().words(4).tobytes()

    def _half(self, count: int) -> Tensor:
        """Say of each of some examples whether it is chosen: one of every two neighbors, by secret coins.

        The coins of a pair are the same however many examples a batch has.
        """
        self._draw_key()
        if not self._is_half_done:
            self._begin_pair()
        coins = shake_256(self._key + self._pairs.to_bytes(8, "big")).digest(count // 16 + 1)
        is_later = np.unpackbits(np.frombuffer(coins, dtype=np.uint8)).astype(bool)
        ranks = np.arange(count)
        return torch.from_numpy((ranks % 2 == is_later[ranks // 2]) ^ self._is_half_done)

    def _note(self, told: set[str]) -> None:
        """Count a trial for the layers that both halves of a pair have told of."""
        if not self._is_half_done:
            self._first, self._is_half_done = told, True
            return
        self._is_half_done, both = False, self._first & told
        self._told.update(both)
        if self._agree(not both):
            self._last = -1  # the next batch of this step may tell more
        is_all = all(self._told[name] >= _PAIRS for name in self._reached)
        self.is_enough = self._agree(is_all and bool(self._reached)) or self._pairs >= _MOST_PAIRS


def _is_telling(weights: Tensor) -> bool:
    """Whether a batch can show that examples are mixed: padding cannot, nor one example among it."""
    return len(weights) < 2 or int(weights.count_nonzero()) > 1


def _looked_at(slopes: Tensor) -> tuple[Tensor, Tensor]:
    """Say of each example whether a slope is neither 0 nor undefined, and whether all are finite.

    Some examples are looked at at a time.
    """
    flat = slopes.reshape(len(slopes), slopes[:1].numel())
    some = flat.split(max(1, _AT_ONCE // max(1, flat.shape[1])))
    has_numbers = torch.cat([torch.nan_to_num(part).count_nonzero(1) > 0 for part in some])
    return has_numbers, torch.cat([part.isfinite().all(1) for part in some])
