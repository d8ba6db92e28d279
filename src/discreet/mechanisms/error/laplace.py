"""The error of discrete Laplace noise, for one value and for norms of vectors.

With r = exp(-step / scale): P(N = k) = (1 - r) / (1 + r) r^|k|, in steps.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, expm1, isfinite, log, log1p
from typing import ClassVar

import numpy as np

from discreet.mechanisms.error.base import ErrorLaw, any_of
from discreet.privacy.rational import Number, rational
from discreet.records import dataclass

__all__ = ["LaplaceError", "LaplaceL1", "LaplaceL2", "LaplaceMaximum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LaplaceNoise(ErrorLaw):
    """What all laws of this noise share: its scale, in data units."""

    scale: Fraction

    @property
    def _ratio(self) -> float:
        return exp(-self.step / self.scale)

    @property
    def _stop(self) -> float:
        return -expm1(-self.step / self.scale)

    def _one_tail(self, steps: int) -> float:
        return 2 * exp(-(steps + 1) * self.step / self.scale) / (1 + self._ratio)

    def _one_quantile(self, failure: float) -> int:
        """Return about how many steps |N| exceeds with a probability."""
        rate = float(self.step / self.scale)
        if not (failure > 0 and rate > 0):
            return 0
        steps = (log(2 / failure) - log1p(self._ratio)) / rate
        return max(ceil(steps) - 1, 0) if isfinite(steps) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceL1(_LaplaceNoise):
    """The law of |N_1| + … + |N_d|: exact.

    Each |N_i| is zero with probability (1 - r) / (1 + r) and otherwise one plus a geometric
    variable. Given that j of them are not zero (a binomial number), the sum exceeds j by a negative
    binomial variable, whose tail is a regularized incomplete beta function. On fine grids this
    tends to the Gamma(d, scale) law of continuous noise.
    """

    def tail_in_steps(self, steps: int) -> float:
        """Sum over j of Binomial(d, 2 r / (1 + r))(j) I_r(m - j + 1, j)."""
        from scipy.special import betainc, gammaln, xlog1py, xlogy

        if self._ratio == 0.0:
            return 0.0
        nonzero = np.arange(1, self.size + 1)
        zero_probability = self._stop / (1 + self._ratio)
        log_binomial = (
            gammaln(self.size + 1)
            - gammaln(nonzero + 1)
            - gammaln(self.size - nonzero + 1)
            + xlog1py(nonzero, -zero_probability)
            + xlogy(self.size - nonzero, zero_probability)
        )
        excess = float(steps) - nonzero
        beyond = np.where(excess < 0, 1.0, betainc(np.maximum(excess, 0) + 1, nonzero, self._ratio))
        return float(np.exp(log_binomial) @ beyond)

    def continuous_tail(self, threshold: Number) -> float:
        """P(Gamma(d, scale) > t): the law of continuous noise, to which the exact one tends on fine grids."""
        from scipy.special import gammaincc

        beyond = rational(threshold, "threshold") - self.rounding
        return 1.0 if beyond < 0 else float(gammaincc(self.size, float(beyond / self.scale)))

    def union_bound(self, threshold: Number) -> float:
        """The textbook bound d P(|N| > t / d): never below the exact tail."""
        share = (rational(threshold, "threshold") - self.rounding) / self.size
        return 1.0 if share < 0 else min(1.0, self.size * self._one_tail(share // self.step))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceL2(_LaplaceNoise):
    """A bound on the law of the L2 norm: no closed form is known.

    The smallest of three: P(||N||_1 > t), since the L2 norm is at most the L1 norm; Markov's
    E||N||^2 / t^2; and Cantelli's inequality for the sum of squares.
    """

    exact: ClassVar[bool] = False

    def tail_in_steps(self, steps: int) -> float:
        """Return the smallest of the three bounds."""
        ratio, stop = self._ratio, self._stop
        second = 2 * ratio / stop**2
        fourth = 2 * ratio * (1 + 10 * ratio + ratio**2) / stop**4
        mean, variance = self.size * second, self.size * (fourth - second**2)
        square = float(steps) ** 2
        l1 = LaplaceL1(scale=self.scale, step=self.step, size=self.size)
        bounds = [1.0, l1.tail_in_steps(steps)]
        if square > 0:
            bounds.append(mean / square)
        if square > mean:
            bounds.append(variance / (variance + (square - mean) ** 2))
        return min(bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceMaximum(_LaplaceNoise):
    """The law of the largest |N_i|: exact, 1 - (1 - P(|N| > m))^d."""

    def tail_in_steps(self, steps: int) -> float:
        """Return the probability that any of them exceeds m."""
        return any_of(self.size, self._one_tail(steps))

    def _first_guess(self, failure: float) -> int:
        return self._one_quantile(failure / self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceError(_LaplaceNoise):
    """The law of |N|, the error of each value: exact.

    `l1`, `l2` and `maximum` are the laws of the norms of all `size` errors together.
    """

    @property
    def variance(self) -> float:
        """Var N = 2 r / (1 - r)^2, in squared data units."""
        return float(2 * self._ratio / self._stop**2 * float(self.step) ** 2)

    @property
    def mean_absolute(self) -> float:
        """E|N| = 2 r / (1 - r^2), in data units."""
        return -2 * self._ratio / expm1(-2 * self.step / self.scale) * float(self.step)

    def tail_in_steps(self, steps: int) -> float:
        """P(|N| > m) = 2 r^(m + 1) / (1 + r)."""
        return self._one_tail(steps)

    def _first_guess(self, failure: float) -> int:
        return self._one_quantile(failure)

    @property
    def l1(self) -> LaplaceL1:
        """The law of the sum of all absolute errors."""
        rounding = self.size * self.rounding
        return LaplaceL1(scale=self.scale, step=self.step, rounding=rounding, size=self.size)

    @property
    def l2(self) -> LaplaceL2:
        """A bound on the law of the root of the sum of all squared errors."""
        rounding = self.size * self.rounding
        return LaplaceL2(scale=self.scale, step=self.step, rounding=rounding, size=self.size)

    @property
    def maximum(self) -> LaplaceMaximum:
        """The law of the largest absolute error."""
        return LaplaceMaximum(scale=self.scale, step=self.step, rounding=self.rounding, size=self.size)
