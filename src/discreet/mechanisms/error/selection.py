"""The error of selections: how far the chosen score falls short of the best.

All statements hold for every vector of scores that enters unclamped. The worst one has a
single best candidate and all others just beyond the threshold, at g = floor(t / step) + 1
steps: raising a candidate that is beyond the threshold, or lowering one that is not,
only makes a bad choice likelier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import ceil, exp, expm1, floor, log, log1p
from typing import ClassVar

from discreet.mechanisms.error.base import SAFETY, allowed_failure
from discreet.privacy.rational import Number, float_above, rational, whole
from discreet.records import dataclass

__all__ = [
    "AboveThresholdError",
    "ExponentialError",
    "NoisyMaxError",
    "PermuteAndFlipError",
    "SelectionError",
    "TopKError",
]

MOST_CANDIDATES = 1 << 62

_UNDERFLOW = 700


def _decay(exponent: Fraction) -> float:
    """Return exp(-exponent), for fractions of any size."""
    return exp(-exponent) if exponent < _UNDERFLOW else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionError(ABC):
    """The largest probability, over all scores, that the choice is worse than a threshold.

    Attributes
    ----------
    step : Fraction
        Differences of scores are multiples of it, except for `rounding`.
    rounding : Fraction
        The most that rounding to a grid may add to the error.
    exact : bool
        Whether some scores attain `tail` (in double precision, and except for `rounding`). Where
        it is False, `tail` is an upper bound.
    """

    step: Fraction = Fraction(1)
    rounding: Fraction = Fraction(0)

    exact: ClassVar[bool] = False

    @abstractmethod
    def tail_in_steps(self, steps: int, candidates: int) -> float:
        """Return P(best - chosen > steps), or a bound, in units of `step` and without rounding."""

    @abstractmethod
    def _textbook(self, failure: float, candidates: int) -> float:
        """Return the textbook's bound in data units, without rounding."""

    def tail(self, threshold: Number, *, candidates: int) -> float:
        """Return the probability, or its bound, that the error exceeds a threshold.

        Parameters
        ----------
        threshold : number
            In units of the scores.
        candidates : int
            How many candidates there are.
        """
        count = self._check(candidates)
        beyond = rational(threshold, "threshold") - self.rounding
        if beyond < 0:
            return 1.0
        return min(1.0, self.tail_in_steps(beyond // self.step, count))

    def quantile(self, confidence: Number, *, candidates: int) -> float:
        """Return the smallest t with P(error <= t) >= confidence, for any scores.

        Where the floats cannot tell, t is one step larger; where `tail` is a bound, so is this.
        """
        count, failure = self._check(candidates), allowed_failure(confidence)
        upper = 1
        while self.tail_in_steps(upper - 1, count) * SAFETY > failure:
            upper *= 2
        lower = upper // 2
        while lower < upper:
            middle = (lower + upper) // 2
            if self.tail_in_steps(middle, count) * SAFETY <= failure:
                upper = middle
            else:
                lower = middle + 1
        return float_above(lower * self.step + self.rounding)

    def textbook_bound(self, confidence: Number, *, candidates: int) -> float:
        """Return the error that textbooks promise with this confidence: never below `quantile` by a step."""
        count = self._check(candidates)
        return self._textbook(allowed_failure(confidence), count) + float_above(self.rounding)

    def _check(self, candidates: int) -> int:
        return whole(candidates, "candidates", least=1, most=MOST_CANDIDATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialError(SelectionError):
    """The exponential mechanism's shortfall: exact.

    With p = exp(-rate g step), n - 1 candidates of weight p stand against the best of weight 1:
    P = (n - 1) p / (1 + (n - 1) p). The textbook drops the denominator, and so promises
    log(n / beta) / rate (McSherry & Talwar 2007; Dwork & Roth 2014, Corollary 3.12).
    """

    rate: Fraction

    exact: ClassVar[bool] = True

    def tail_in_steps(self, steps: int, candidates: int) -> float:
        """(n - 1) p / (1 + (n - 1) p)."""
        weight = (candidates - 1) * self.weight_in_steps(steps)
        return weight / (1 + weight)

    def weight_in_steps(self, steps: int) -> float:
        """Return p: what a candidate just beyond `steps` weighs, where the best weighs 1."""
        return _decay((steps + 1) * self.step * self.rate)

    def _textbook(self, failure: float, candidates: int) -> float:
        return log(candidates / failure) * float(1 / self.rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermuteAndFlipError(ExponentialError):
    """Permute-and-flip's shortfall: exact, and never above the exponential mechanism's.

    The best coin always shows 1 and each of the n - 1 others with probability p, so with K
    successes among those P = E[K / (K + 1)] = 1 - (1 - (1 - p)^n) / (n p).
    """

    def tail_in_steps(self, steps: int, candidates: int) -> float:
        """1 - (1 - (1 - p)^n) / (n p), by its series where that would cancel."""
        coin = _decay((steps + 1) * self.step * self.rate)
        if coin == 1.0:
            return (candidates - 1) / candidates
        mean = candidates * coin
        if mean > 0.5:
            return 1 + expm1(candidates * log1p(-coin)) / mean
        # The sum over j >= 1 of -(-p)^j (n - 1) … (n - j) / (j + 1)!, alternating and falling.
        total, term = 0.0, -1.0
        for j in range(1, 40):
            term *= -coin * (candidates - j) / (j + 1)
            total += term
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMaxError(SelectionError):
    """A bound on the shortfall of report-noisy-max: the sum over the n - 1 candidates that may win.

    One of them wins only if the difference of two noises is at least g steps, and for r =
    exp(-step / scale) and g >= 1 that has the probability
    r^g (g (1 - r) + (1 + r^2) / (1 + r) + r) / (1 + r)^2. The textbook asks that no noise exceeds
    scale log(n / beta), and so promises twice that.
    """

    scale: Fraction

    def tail_in_steps(self, steps: int, candidates: int) -> float:
        """(n - 1) P(N - N' >= g)."""
        return (candidates - 1) * _difference_tail(steps + 1, self.step / self.scale)

    def _textbook(self, failure: float, candidates: int) -> float:
        return 2 * log(candidates / failure) * float(self.scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKError(ExponentialError):
    """A bound on the shortfall of k choices: the largest gap of the j-th choice to the j-th best score.

    If every round misses the best that is left by at most t, the j-th choice misses the j-th
    best of all by at most t. Given what went before, a round on m candidates fails with at most
    the exponential mechanism's probability for m, hence 1 - prod (1 - P_m) over m = n, …, n - k + 1.
    """

    k: int

    exact: ClassVar[bool] = False

    def tail_in_steps(self, steps: int, candidates: int) -> float:
        """1 - prod (1 - P_m), and 1 - P_m = 1 / (1 + (m - 1) p)."""
        weight = _decay((steps + 1) * self.step * self.rate)
        return -expm1(-sum(log1p((candidates - 1 - j) * weight) for j in range(self.k)))

    def _textbook(self, failure: float, candidates: int) -> float:
        return log(candidates * self.k / failure) * float(1 / self.rate)

    def _check(self, candidates: int) -> int:
        return whole(candidates, "candidates", least=self.k, most=MOST_CANDIDATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class AboveThresholdError(SelectionError):
    """A bound on the error of above-threshold: how far a wrongly answered value lies from the threshold.

    A value at a distance of at least g steps is answered wrongly only if the difference of its
    noise and the threshold's is at least g on one side. `tail` adds that up over `candidates`,
    how many values are tested at most; or bounds the threshold's noise apart from the others,
    where that is better. The textbook does the latter with each share at beta / 2: threshold scale
    log(2 / beta) + value scale log(2 n / beta), both rounded up to whole steps, where
    P(abs(N) > t) <= exp(-t / scale) holds for discrete noise too.
    """

    threshold_scale: Fraction
    value_scale: Fraction

    def tail_in_steps(self, steps: int, candidates: int) -> float:
        """The smaller of n P(N - N' >= g), and P(abs(N) >= a) + n P(N' >= g + 1 - a) at the best a."""
        gap = steps + 1
        first, second = self.step / self.threshold_scale, self.step / self.value_scale
        if first == second:
            joint = candidates * _difference_tail(gap, first)
        else:
            joint = candidates * _mixed_difference_tail(gap, first, second)
        return min(joint, _separate_tail(gap, first, second, candidates))

    def _textbook(self, failure: float, candidates: int) -> float:
        shares = (
            ceil(log(2 / failure) * float(self.threshold_scale / self.step)),
            ceil(log(2 * candidates / failure) * float(self.value_scale / self.step)),
        )
        return float_above(sum(shares) * self.step)


def _difference_tail(gap: int, step: Fraction) -> float:
    """P(N - N' >= gap), gap >= 1, for discrete Laplace noises of scale 1 / step.

    The sum over k of r^|k| r^|d - k| is r^d (d + (1 + r^2) / (1 - r^2)), and summing over d >= gap
    leaves no difference that could cancel.
    """
    ratio, stop = _decay(step), -expm1(-min(step, Fraction(_UNDERFLOW)))
    inner = gap * stop + (1 + ratio**2) / (1 + ratio) + ratio
    return _decay(gap * step) * inner / (1 + ratio) ** 2


def _mixed_difference_tail(gap: int, first: Fraction, second: Fraction) -> float:
    """P(N - N' >= gap), gap >= 1, for discrete Laplace noises of scales 1 / first and 1 / second.

    With r > s the ratios of the two: the sum over k of r^|k| s^|d - k| is
    (r^(d + 1) - s^(d + 1)) / (r - s) + (r^d + s^d) r s / (1 - r s).
    """
    slow, fast = min(first, second), max(first, second)
    r, s = _decay(slow), _decay(fast)
    stop_r, stop_s = -expm1(-slow), -expm1(-min(fast, Fraction(_UNDERFLOW)))
    apart = -r * expm1(-min(fast - slow, Fraction(_UNDERFLOW)))
    power_r, power_s = _decay(gap * slow), _decay(gap * fast)
    if apart == 0.0:
        return 0.0
    between = (power_r * r * stop_s - power_s * s * stop_r) / apart
    outside = (power_r * stop_s + power_s * stop_r) * r * s / -expm1(-min(slow + fast, Fraction(_UNDERFLOW)))
    return (between + outside) / ((1 + r) * (1 + s))


def _separate_tail(gap: int, first: Fraction, second: Fraction, candidates: int) -> float:
    """P(abs(N) >= a) + candidates P(N' >= gap + 1 - a), for the best whole a from 1 to gap.

    With r and s the ratios of the two noises it is 2 r^a / (1 + r) + n s^(gap + 1 - a) / (1 + s): convex
    in a, and stationary where both terms fall at the same speed.
    """
    r, s = _decay(first), _decay(second)
    balance = log(2 * (1 + s) / (1 + r) * float(first / second) / candidates)
    best = floor((second * (gap + 1) + Fraction(balance)) / (first + second))
    return min(
        2 * _decay(a * first) / (1 + r) + candidates * _decay((gap + 1 - a) * second) / (1 + s)
        for a in (min(max(best, 1), gap), min(max(best + 1, 1), gap))
    )
