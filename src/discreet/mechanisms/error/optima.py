"""The exponential mechanism's error where several candidates are known to be best."""

from __future__ import annotations

from math import log

from discreet.errors import ParameterError
from discreet.mechanisms.error.selection import MOST_CANDIDATES, ExponentialError
from discreet.privacy.rational import whole
from discreet.records import dataclass

__all__ = ["SeveralOptimaError"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralOptimaError(ExponentialError):
    """The shortfall where at least m candidates attain the best score, on all data: exact.

    With p = exp(-rate g step), at most n - m candidates of weight p stand against m of weight 1:
    P = (n - m) p / (m + (n - m) p). The textbook's bound becomes log(n / (beta m)) / rate.

    Attributes
    ----------
    optima : int
        The number m, a public fact such as a symmetry of the scores. Counted in the data it would be
        private, and the statement would leak it.
    """

    optima: int

    def __post_init__(self) -> None:
        whole(self.optima, "optima", least=1, most=MOST_CANDIDATES)

    def tail_in_steps(self, steps: int, candidates: int) -> float:
        """(n - m) p / (m + (n - m) p)."""
        best = self._best(candidates)
        others = (candidates - best) * self.weight_in_steps(steps)
        return others / (best + others)

    def _textbook(self, failure: float, candidates: int) -> float:
        return max(log(candidates / (failure * self._best(candidates))), 0.0) * float(1 / self.rate)

    def _best(self, candidates: int) -> int:
        if self.optima > candidates:
            raise ParameterError("candidates", "are fewer than the optima", f"at least {self.optima}")
        return self.optima
