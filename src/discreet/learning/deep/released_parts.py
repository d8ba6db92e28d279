"""What becomes of a private sum: integers on a grid, noise, and public numbers, some at a time.

Parts of a sum that are released by themselves may have threads of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from discreet.learning.deep.epoch_plan import EpochPlan
from discreet.learning.deep.plan import TrainingPlan
from discreet.learning.deep.processor_plan import ProcessorPlan
from discreet.noise import Source
from discreet.noise.layered_gaussian import LayeredDraws
from discreet.noise.one_word_draws import OneWordDraws, one_word_parts

__all__ = ["MOST_NUMBERS", "NoisyPart", "noisy_parts", "side_by_side"]

MOST_NUMBERS = 1 << 15
"""How many are released at once: they stay in the processor's cache."""
_LARGEST = 2.0**30
"""Grid steps up to here fit into 32 bits with their noise."""


class NoisyPart(Protocol):
    """The noise of a part of a sum."""

    def release(self, sums: NDArray[Any], scale: float, out: NDArray[Any]) -> None:
        """Write the nearest integers and noise over the next sums, at most 2^15; to `out`, scaled."""

    def next(self) -> int:
        """Return the noise of one more number."""


class _Layered:
    """Noise of any deviation."""

    def __init__(self, draws: LayeredDraws) -> None:
        self._draws = draws

    def release(self, sums: NDArray[Any], scale: float, out: NDArray[Any]) -> None:
        """Add integers below 2^53 as doubles."""
        np.rint(sums, out=sums)
        np.add(sums, self._draws.next(len(sums)), out=sums)
        np.multiply(sums, scale, out=out, casting="same_kind")

    def next(self) -> int:
        """Return the noise of one more number."""
        return int(self._draws.next(1)[0])


class _OneWord:
    """Noise of one word, below 2^27.

    Parameters
    ----------
    draws : OneWordDraws
    is_short : bool
        Whether as many examples as a step has places for add up to 2^30 at most. More are added to noise as
        doubles: where many agree in a number, they would be cut off.
    """

    def __init__(self, draws: OneWordDraws, *, is_short: bool) -> None:
        self._draws, self._is_short = draws, is_short
        self._steps = np.empty(MOST_NUMBERS, np.int32 if is_short else np.float64)

    def release(self, sums: NDArray[Any], scale: float, out: NDArray[Any]) -> None:
        """Add integers of 32 bits, cut off at 2^30, or doubles."""
        steps = self._steps[: len(sums)]
        np.rint(sums, out=sums)
        if self._is_short:
            np.clip(sums, -_LARGEST, _LARGEST, out=sums)
        np.copyto(steps, sums, casting="unsafe")
        np.add(steps, self._draws.next(len(sums)), out=steps)
        np.copyto(sums, steps, casting="same_kind")
        np.multiply(sums, scale, out=out, casting="same_kind")

    def next(self) -> int:
        """Return the noise of one more number."""
        return int(self._draws.next(1)[0])


def noisy_parts(plan: TrainingPlan | EpochPlan, source: Source) -> list[tuple[int, NoisyPart]]:
    """Return the noise of each part of what a step releases, and where the part begins."""
    if isinstance(plan, ProcessorPlan):
        parts, is_short = one_word_parts(plan.drawn, source), _is_short(plan)
        return [(start, _OneWord(draws, is_short=is_short)) for start, draws in parts]
    return [(0, _Layered(LayeredDraws(Fraction(plan.variance), plan.drawn, source)))]


@lru_cache(maxsize=64)
def _is_short(plan: ProcessorPlan) -> bool:
    """Whether a step has too few places for a sum beyond 2^30."""
    return plan.places * plan.bound_in_steps * (1 + plan.rounding) <= _LARGEST


def side_by_side(works: Sequence[Callable[[], None]]) -> None:
    """Do works in as many threads as PyTorch has, this one among them."""
    count = min(torch.get_num_threads(), len(works))

    def some(first: int) -> None:
        for work in works[first::count]:
            work()

    if count == 1:
        some(0)
        return
    with ThreadPoolExecutor(count - 1) as pool:
        others = [pool.submit(some, first) for first in range(1, count)]
        some(0)
        for other in others:
            other.result()
