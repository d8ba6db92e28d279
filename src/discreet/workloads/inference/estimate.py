"""What inference returns: the unbiased and the constrained estimate, apart, and how optimal the latter is."""

from __future__ import annotations

from discreet.records import dataclass
from discreet.workloads.algebra.arrays import Real

__all__ = ["Estimate"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """Two estimates from the same noisy answers.

    Attributes
    ----------
    unbiased : array
        Least squares under the equalities alone. Its expectation is the truth, since the truth meets
        them: average these over releases, and build intervals on these.
    constrained : array
        Least squares under all constraints. Never farther from the truth than `unbiased` in the norm in
        which it is closest, and possible as data; but biased where a constraint such as
        non-negativity binds, so sums of many such entries drift.
    residual : float
        By how much the conditions for the optimum (Karush, Kuhn & Tucker) are missed, in the units of
        the answers: constraints, stationarity and complementarity. Rounding alone leaves about
        1e-12 of the largest answer.
    constraints : tuple of str
        What `constrained` was held to, in words.
    iterations : int
        How many steps it took; 0 where the projection is exact.
    """

    unbiased: Real
    constrained: Real
    residual: float
    constraints: tuple[str, ...]
    iterations: int = 0
