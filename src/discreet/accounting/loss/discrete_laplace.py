"""Discrete Laplace noise: a lattice of losses between -epsilon and epsilon.

With a shift of k steps and r = exp(-grid / scale) the loss at y is (|y - k| - |y|) grid / scale:
k steps' worth for y <= 0, -k for y >= k, and k - 2 y between. Exact for one value; a vector whose
shift may be spread over several values is charged as any law with that pure epsilon.
"""

from __future__ import annotations

from math import exp

import numpy as np

from discreet.accounting.loss.pair import Pair, finite_pair, pair_of
from discreet.accounting.loss.pure import pure_pair
from discreet.privacy import events

__all__: list[str] = []

_MOST_ATOMS = 20_000


@pair_of.register
def _(event: events.DiscreteLaplace) -> Pair | None:
    shift, step = event.shift, float(event.grid / event.scale)
    if shift > _MOST_ATOMS or (shift > 1 and event.size != 1):
        return pure_pair(float(event.pure_epsilon))
    ratio = exp(-step)
    inner = (1 - ratio) / (1 + ratio) * ratio ** np.arange(1, shift)
    p = np.concatenate([[1 / (1 + ratio)], inner, [ratio**shift / (1 + ratio)]])
    return finite_pair(p, p[::-1])
