"""A counter that is read while it counts: a noisy running total after every step, for one charge.

One person may add to one step. The whole stream of measurements is the vector A x of `ToeplitzRoot`
with independent noise, released one entry at a time: A is lower triangular, so that step t needs
only what came before. What arrives later may depend on what was read (docs/proofs/strategies.md,
theorem 10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian
from discreet.privacy.rational import Number, typed_as_integers
from discreet.workloads.algebra.modular import LARGEST_CELL
from discreet.workloads.error.expected_error import ExpectedError, expected_error
from discreet.workloads.error.intervals import LinearAnswer
from discreet.workloads.queries.ranges import Prefixes
from discreet.workloads.strategies.toeplitz import ToeplitzRoot

if TYPE_CHECKING:
    from discreet.privacy.events import DiscreteGaussian, RoundedGaussian

__all__ = ["ContinualCounter"]


class ContinualCounter:
    """Count a stream, step by step, under continual observation.

    Parameters
    ----------
    steps : int
        The most steps there will be.
    rho, epsilon, delta : number
        The budget for the whole stream: rho, or epsilon with delta.
    rows : int
        How many rows one person may have in the whole stream.

    Guarantee
    ---------
    `event` covers all steps together, when persons' rows are added to or removed from the stream,
    and later increments may be chosen after seeing earlier answers.

    Error
    -----
    `expected_error` is exact, averaged over the steps: within a percent of what any strategy can reach.

    Examples
    --------
    >>> counter = ContinualCounter(365, rho=0.5)
    >>> answer = counter.add(12)
    >>> low, high = answer.interval(0.95)
    """

    def __init__(
        self,
        steps: int,
        *,
        rho: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rows: int = 1,
    ) -> None:
        self._strategy = ToeplitzRoot(steps)
        self._mechanism = Gaussian(
            sensitivity=self._strategy.sensitivity(rows),
            size=self._strategy.measurements,
            rho=rho,
            epsilon=epsilon,
            delta=delta,
        )
        self._one_step = self._mechanism.alike(sensitivity=self._strategy.sensitivity(rows))
        self._scaled = np.zeros(self._strategy.size, np.int64)
        self._measured = np.zeros(self._strategy.size)
        self._row = np.zeros(self._strategy.size)
        self._total = 0.0
        self._seen = 0

    @property
    def event(self) -> DiscreteGaussian | RoundedGaussian:
        """What the whole stream is charged, once, before the first step."""
        return self._mechanism.event

    @property
    def seen(self) -> int:
        """How many steps were counted."""
        return self._seen

    @property
    def expected_error(self) -> ExpectedError:
        """The error of the running totals, averaged over all steps."""
        return expected_error(Prefixes(self._strategy.size), self._strategy, self._mechanism)

    def add(self, increment: int) -> LinearAnswer:
        """Count one step and return the running total with its error.

        Increments beyond 2^29 - 1 are clamped, without a word: integers of any size are accepted.
        """
        strategy, step = self._strategy, self._seen
        if step == strategy.size:
            raise ParameterError("steps", "are all used: the noise was made for no more", "a new counter")
        count = max(-LARGEST_CELL, min(LARGEST_CELL, _integer(increment)))
        self._scaled[step] = count * int(strategy.scales[step])
        window = [int(value) for value in self._scaled[: step + 1]]
        exact = sum(value * int(tap) for value, tap in zip(window, strategy.taps[step::-1], strict=True))
        noisy = self._one_step.release(exact)
        self._seen += 1
        self._measured[step] = float(noisy)  # type: ignore[arg-type]
        backward = strategy.inverse[step::-1] / strategy.scales[step]
        self._total += float(backward @ self._measured[: step + 1])
        self._row[: step + 1] += backward
        factor = float(self._row[: step + 1] @ self._row[: step + 1])
        return LinearAnswer(
            value=self._total,
            variance=factor * self._mechanism.error.variance,
            mechanism=self._mechanism,
            factor=factor,
        )


def _integer(increment: int) -> int:
    """Return an increment whose type alone was checked: its size is private."""
    if not typed_as_integers(increment):
        raise ParameterError("increment", "is not an integer", "an integer")
    return int(increment)
