"""Theorems as they are taught: composition, amplification by sampling and shuffling, moments.

Each takes plain numbers and states what it needs. All of them are looser than the tight
accountant; they are here to be compared with, and as parts of it. Proofs: docs/proofs/theorems.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.accounting.formulas.stable_sums import excess, log_choose, log_sum
from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.privacy.rational import non_negative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


__all__ = [
    "LINEAR",
    "Cost",
    "Step",
    "advanced",
    "amplified",
    "amplified_as_taught",
    "basic",
    "binomial_cumulant",
    "classical_gaussian",
    "clone_ratios",
    "excess",
    "fixed_size_cumulant",
    "moments_epsilon",
    "optimal_delta",
    "optimal_epsilon",
    "sampled_gaussian",
    "shuffled_delta",
    "shuffled_epsilon",
    "strong_as_taught",
]

_EXACT, _GRID = 2**15, 2**13  # points of a lattice of losses: exact if it has so few, else rounded to so many
_CENTRAL, _OUTER = np.linspace(-7, 7, 200), np.linspace(7.5, 40, 30)
_CELLS, _BLOCKS = (
    np.concatenate([-_OUTER[::-1], _CENTRAL, _OUTER]),
    np.concatenate([-_OUTER[::-2], _CENTRAL[::6]]),
)
LINEAR = 1.2564
"""The largest epsilon, rounded down, with e^epsilon - 1 <= 2 epsilon."""


class Cost(NamedTuple):
    """An (epsilon, delta)."""

    epsilon: float
    delta: float


class Step(NamedTuple):
    """An (epsilon, delta) that is paid `times` times."""

    epsilon: float
    delta: float = 0.0
    times: int = 1


def basic(steps: Iterable[Step]) -> Cost:
    """Add up: (sum of epsilon, sum of delta), for any dependence (Dwork & Roth 2014)."""
    listed = _checked(steps)
    pairs = [(non_negative(e, "epsilon") * n, non_negative(d, "delta") * n) for e, d, n in listed]
    return Cost(float(sum(e for e, _ in pairs)), min(1.0, float(sum(d for _, d in pairs))))


def advanced(step: Step, slack: float) -> Cost:
    """Return the cost of k equal steps by strong composition, with a slack added to delta.

    (epsilon sqrt(2 k log(1/slack)) + k epsilon (e^epsilon - 1), k delta + slack): Dwork, Rothblum & Vadhan
    2010, with the constants of Dwork & Roth 2014.
    """
    taught = strong_as_taught(step, slack)
    if step.epsilon > 700:  # beyond floats
        return Cost(math.inf, taught.delta)
    return Cost(taught.epsilon + step.times * step.epsilon * math.expm1(step.epsilon), taught.delta)


def strong_as_taught(step: Step, slack: float) -> Cost:
    """Return the leading term of `advanced` alone, epsilon sqrt(2 k log(1/slack)): a rule, no guarantee.

    It drops k epsilon (e^epsilon - 1), which is the smaller term only if epsilon sqrt(k) is small.
    """
    _checked([step])
    if not 0 < slack < 1:
        raise ParameterError("slack", "is out of range", "above 0 and below 1")
    spread = math.sqrt(2 * step.times * math.log(1 / slack))
    return Cost(step.epsilon * spread, min(1.0, step.times * step.delta + slack))


def optimal_delta(steps: Iterable[Step], epsilon: float) -> float:
    """Return the smallest delta at `epsilon` that holds for every composition of such steps.

    Kairouz, Oh & Viswanath 2015; Murtagh & Vadhan 2016: with L the sum of independent losses,
    each +epsilon_i with probability e^epsilon_i / (1 + e^epsilon_i), else -epsilon_i,

        delta = 1 - prod (1 - delta_i) (1 - E (1 - e^(epsilon - L))+).

    Equal steps, and steps whose epsilons are whole multiples of a common unit, are summed exactly (up to
    rounding, which goes up). Otherwise the law of each kind of step is moved to a grid, which never lowers
    delta.
    """
    return _optimal(_checked(steps))(epsilon)


def optimal_epsilon(steps: Iterable[Step], delta: float) -> float:
    """Return the smallest epsilon at `delta`; infinity if the steps themselves have more delta."""
    listed = _checked(steps)
    return _smallest(_optimal(listed), delta, basic(listed).epsilon)


def _checked(steps: Iterable[Step]) -> list[Step]:
    listed = [Step(*step) for step in steps]
    for step in listed:
        if not (0 <= step.epsilon < math.inf and 0 <= step.delta <= 1 and step.times >= 0):
            raise ParameterError(
                "steps", "hold one out of range", "(epsilon >= 0, 0 <= delta <= 1, times >= 0)"
            )
    return listed


def _optimal(steps: list[Step]) -> Callable[[float], float]:
    kinds = [(non_negative(s.epsilon, "epsilon"), s.times) for s in steps if s.epsilon > 0 and s.times]
    failed = -math.expm1(sum(s.times * (math.log1p(-s.delta) if s.delta < 1 else -math.inf) for s in steps))
    reach = sum((epsilon * times for epsilon, times in kinds), start=Fraction(0))
    common = math.lcm(*(epsilon.denominator for epsilon, _ in kinds))
    unit = Fraction(math.gcd(*(int(epsilon * common) for epsilon, _ in kinds)) or 1, common)
    if 2 * reach > _EXACT * unit:
        unit = 2 * reach / _GRID
    gap, law, lowest, rounding = float(unit), np.ones(1), 0, 1e-12
    if len(kinds) == 1:  # its law lies on a lattice of its own, however many times it runs
        (epsilon, times), gap = kinds[0], 2 * float(kinds[0][0])
        law, first = _binomial(float(epsilon), times)
        losses = (2 * np.arange(first, first + len(law)) - times) * float(epsilon)
        rounding += 1e-15 * float(_log_factorial(times))
    else:
        for epsilon, times in kinds:
            masses, first = _binomial(float(epsilon), times)
            exact = [(2 * k - times) * epsilon / unit for k in (first, first + len(masses) - 1)]
            start = math.floor(exact[0])
            place = np.linspace(float(exact[0] - start), float(exact[1] - start), len(masses))
            floor = np.floor(place + 1e-9) if 2 * reach <= _EXACT * unit else np.floor(place)
            up = np.clip(np.expm1(-(place - floor) * gap) / math.expm1(-gap), 0, 1)
            spread = np.zeros(int(floor[-1]) + 2)
            np.add.at(spread, floor.astype(int), masses * (1 - up))
            np.add.at(spread, floor.astype(int) + 1, masses * up)
            law, lowest, rounding = (
                np.convolve(law, spread),
                lowest + start,
                rounding + 1e-15 * float(_log_factorial(times)),
            )
        losses = (lowest + np.arange(len(law))) * gap

    def delta(epsilon: float) -> float:
        above = losses > epsilon
        tail = float(law[above] @ -np.expm1(epsilon - losses[above])) * (1 + rounding)
        return min(1.0, failed + (1 - failed) * tail)

    return delta


def _log_factorial(number: Any) -> Any:
    """Return log(number!), also between whole numbers; SciPy is loaded when it is first needed."""
    from scipy.special import gammaln

    return gammaln(number + 1)


def _binomial(epsilon: float, times: int) -> tuple[Floats, int]:
    """The number of losses +epsilon in `times`, without tails below exp(-3200), and its first value."""
    p = 1 / (1 + math.exp(-epsilon))
    reach = 40 * math.sqrt(times) + 1
    first, last = max(0, math.floor(times * p - reach)), min(times, math.ceil(times * p + reach))
    k = np.arange(first, last + 1)
    logs = (
        _log_factorial(times)
        - _log_factorial(k)
        - _log_factorial(times - k)
        + k * math.log(p)
        - (times - k) * np.logaddexp(0, epsilon)
    )
    return np.exp(logs), first


def _smallest(delta_at: Callable[[float], float], delta: float, most: float) -> float:
    """Bisect for the smallest epsilon whose delta fits; the answer itself has been checked."""
    if delta_at(most) > delta:
        return math.inf
    low, high = 0.0, most
    if delta_at(0.0) <= delta:
        return 0.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle) <= delta else (middle, high)
    return high


def amplified(cost: Cost, rate: float) -> Cost:
    """Return the cost on a sample with each unit at probability q: (log(1 + q(e^epsilon - 1)), q delta).

    For Poisson samples where a unit is added or removed, and for samples without replacement where it
    is replaced (Balle, Barthe & Gaboardi 2018).
    """
    _rate(rate)
    if cost.epsilon > 500:
        return Cost(cost.epsilon, rate * cost.delta)
    return Cost(math.log1p(rate * math.expm1(cost.epsilon)), rate * cost.delta)


def amplified_as_taught(cost: Cost, rate: float) -> Cost:
    """Return the lecture's (2 q epsilon, q delta): `amplified`, as long as e^epsilon - 1 <= 2 epsilon."""
    if not 0 <= cost.epsilon <= LINEAR:
        raise ParameterError("epsilon", "is too large for 2 q epsilon", f"at most {LINEAR}; use `amplified`")
    _rate(rate)
    return Cost(2 * rate * cost.epsilon, rate * cost.delta)


def _rate(rate: float) -> None:
    if not 0 <= rate <= 1:
        raise ParameterError("rate", "is out of range", "between 0 and 1")


def classical_gaussian(noise_multiplier: float, delta: float) -> float:
    """Return the classical epsilon, sqrt(2 log(1.25 / delta)) / noise_multiplier.

    Dwork & Roth 2014, which asks for epsilon < 1. Any other is returned only where the exact
    delta confirms it.
    """
    if noise_multiplier <= 0 or not 0 < delta < 1:
        raise ParameterError(
            "delta or noise_multiplier", "is out of range", "delta between 0 and 1, noise above 0"
        )
    epsilon = math.sqrt(2 * math.log(1.25 / delta)) / noise_multiplier
    from scipy.special import log_ndtr

    half, far = 1 / (2 * noise_multiplier), epsilon * noise_multiplier
    exact = math.exp(log_ndtr(half - far)) - math.exp(epsilon + log_ndtr(-half - far))
    if exact > delta:
        raise ParameterError("noise_multiplier", "is too small for the classical rule", "larger")
    return epsilon


def binomial_cumulant(order: int, rate: float, cumulants: Floats) -> float:
    """Return log E_Q(1 - q + q P/Q)^n, from log E_Q(P/Q)^l at l = 2, …, n; exact, and all terms are positive.

    E_Q(1 - q + q r)^n - 1 is the sum over l >= 2 of C(n, l) (1 - q)^(n - l) q^l (E_Q r^l - 1), since the
    weights sum to 1 and E_Q r = 1.
    """
    k, psi = np.arange(2, order + 1), cumulants[: order - 1]
    choose = log_choose(order)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = choose + (order - k) * math.log1p(-rate) + k * math.log(rate) + psi + np.log(-np.expm1(-psi))
    rounding = 2e-15 * (_log_factorial(order) + order * abs(math.log(rate)) + float(psi.max()))
    return float(np.logaddexp(0, log_sum(np.where(np.isnan(logs), np.inf, logs)) + rounding))


def fixed_size_cumulant(order: int, rate: float, cumulants: Floats, excess: float) -> float:
    """Return a bound on log E_Q(P/Q)^n for samples of fixed size, from the inner cumulants at 2, …, n.

    Wang, Balle & Kasiviswanathan 2019: 1 + sum over k >= 2 of C(n, k) q^k B_k, where B_k is
    min(2, excess^k) E_Q r^k, for k = 2 also at most 4 (E_Q r^2 - 1); `excess` is e^epsilon - 1 of a pure
    epsilon, or infinity.
    """
    k, psi = np.arange(2, order + 1), cumulants[: order - 1]
    with np.errstate(divide="ignore"):
        logs = psi + np.minimum(math.log(2), k * np.log(excess))
        logs[0] = min(logs[0], math.log(4) + psi[0] + np.log(-np.expm1(-psi[0])))
    logs += log_choose(order) + k * math.log(rate)
    rounding = 2e-15 * (_log_factorial(order) + order * abs(math.log(rate)) + float(psi.max()))
    return float(np.logaddexp(0, log_sum(logs) + rounding))


def sampled_gaussian(noise_multiplier: float, rate: float, order: float) -> float:
    """Return (alpha - 1) D_alpha of the Poisson-sampled Gaussian, in its worse direction.

    Mironov, Talwar & Zhang 2019, section 3.3. Whole orders: `binomial_cumulant`. Other orders: with r = P/Q
    the integral of (1 - q + q r)^alpha is expanded in q r / (1 - q) where that is below 1, and in its
    inverse elsewhere. Past alpha both series alternate with terms that fall and are convex; so half the last
    term is taken, and the rest is at most half the last difference.
    """
    sigma, q, alpha = noise_multiplier, rate, order
    if float(alpha).is_integer():
        k = np.arange(2, int(alpha) + 1)
        return binomial_cumulant(int(alpha), q, k * (k - 1) / (2 * sigma**2))
    from scipy.special import gammasgn, log_ndtr

    # With q small, the binomial weights (which sum to 1) are taken out, so that E - 1 is summed, not E.
    apart = q <= 0.25
    k = np.arange(math.ceil(alpha) + 1000)
    border = sigma**2 * math.log(1 / q - 1) + 0.5
    choose = _log_factorial(alpha) - _log_factorial(k) - _log_factorial(alpha - k)
    sign = gammasgn(alpha - k + 1)
    low = k * (k - 1) / (2 * sigma**2) + log_ndtr((border - k) / sigma)
    high = (alpha - k) * (alpha - k - 1) / (2 * sigma**2) + log_ndtr((alpha - k - border) / sigma)
    low_weight = choose + (alpha - k) * math.log1p(-q) + k * math.log(q)
    high_weight = choose + k * math.log1p(-q) + (alpha - k) * math.log(q)
    with np.errstate(divide="ignore"):
        apart_low = np.where(low > 0, low + np.log(-np.expm1(-np.abs(low))), np.log(-np.expm1(-np.abs(low))))
    logs = np.concatenate([low_weight + (apart_low if apart else low), high_weight + high])
    signs = np.concatenate([sign * np.sign(low) if apart else sign, sign])
    top = float(logs.max())
    terms = np.exp(logs - top)
    size = np.tile(20 + np.abs(choose) + k * abs(math.log(q)) + 2 * (k + alpha) ** 2 / sigma**2, 2)
    signs[[len(k) - 1, -1]] /= 2
    series = [low_weight + low, high_weight + high, *([low_weight] if apart else [])]
    left_out = sum(math.exp(logs[-2] - top) - math.exp(logs[-1] - top) for logs in series) / 2
    total = float(terms @ signs) + 4e-16 * float(terms @ size) + left_out
    return float(np.logaddexp(0, top + math.log(total))) if apart else top + math.log(total)


def moments_epsilon(noise_multiplier: float, rate: float, times: int, delta: float, most: int = 32) -> float:
    """Return the moments accountant's epsilon: min over l = 1, …, most of (T psi(l + 1) + log(1/delta)) / l.

    Abadi et al. 2016, at whole orders up to 32 as in their code; psi is `sampled_gaussian`.
    """
    bounds = (
        (times * sampled_gaussian(noise_multiplier, rate, moment + 1) - math.log(delta)) / moment
        for moment in range(1, most + 1)
    )
    return min(bounds)


def clone_ratios(epsilon: float, people: int) -> tuple[Floats, Floats]:
    """Return atoms (Q-mass, P/Q - 1) that dominate shuffled reports of `people` with a local `epsilon`.

    Feldman, McMillan & Talwar 2021: every other person's report is, with probability e^-epsilon, one of two
    clones of what must be distinguished. With C ~ Bin(people - 1, e^-epsilon) clones and N = C + 1, all
    reports follow from the number a of those of the first kind. Its laws P and Q are Bin(N, 1/2) times
    (w a + (1 - w)(N - a)) 2/N and the mirror image, w = e^epsilon / (1 + e^epsilon). Fewer clones are never
    more private, so C is rounded down to blocks; cells of a are split onto their ends, which keeps both
    masses and never lowers a divergence.
    """
    if epsilon > 700:  # out of the range of floats: nothing is claimed beyond the report's own epsilon
        return np.ones(1), np.full(1, np.inf)
    from scipy.special import xlogy

    keep, others = math.exp(-epsilon), people - 1
    mean, deviation = others * keep, math.sqrt(others * keep * (1 - keep))
    spread = 40 * deviation + 470  # beyond it, by Bernstein's inequality, lies less than exp(-700)
    low, high = max(0, math.floor(mean - spread)), min(others, math.ceil(mean + spread))
    c = np.arange(low, high + 1)
    starts = np.unique(np.clip(np.concatenate([[low], mean + deviation * _BLOCKS]), low, high).astype(int))
    with np.errstate(divide="ignore"):
        logs = _log_factorial(others) - _log_factorial(c) - _log_factorial(others - c) - c * epsilon
        logs += xlogy(others - c, -np.expm1(-epsilon))
    rounding = 1 + 1e-12 + 2e-15 * float(_log_factorial(people))
    blocks = np.add.reduceat(np.exp(logs), starts - low) * rounding
    atoms = [np.array([[1e-300], [math.expm1(epsilon)]])]
    for mass, start in zip(blocks, starts, strict=True):
        q, x = _cells(epsilon, int(start) + 1)
        atoms.append(np.vstack([mass * q, x]))
    weights, ratios = np.hstack(atoms)
    return weights * rounding, ratios


def _cells(epsilon: float, size: int) -> tuple[Floats, Floats]:
    w, rest = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))  # 1 - w would lose its digits
    reach = 20 * math.sqrt(size)  # beyond it lies less than exp(-700)
    a = np.arange(max(0, math.floor(size / 2 - reach)), min(size, math.ceil(size / 2 + reach)) + 1)
    choose = _log_factorial(size) - _log_factorial(a) - _log_factorial(size - a)
    pmf = np.exp(choose - (size - 1) * math.log(2)) / size
    q = pmf * (rest * a + w * (size - a))
    x = math.tanh(epsilon / 2) * (2 * a - size) / (rest * a + w * (size - a))
    borders = size / 2 + math.sqrt(size) / 2 * _CELLS - a[0]
    starts = np.unique(np.clip(np.append(0, borders), 0, len(a) - 1).astype(int))
    mass, moment = np.add.reduceat(q, starts), np.add.reduceat(q * x, starts)
    lower, upper = x[starts], x[np.append(starts[1:], len(a)) - 1]
    with np.errstate(invalid="ignore"):
        share = (moment - lower * mass) / (upper - lower)
    up = np.where(upper > lower, np.clip(share, 0, mass), 0.0)
    return np.concatenate([mass - up, up]), np.concatenate([lower, upper])


def shuffled_delta(local: float, people: int, epsilon: float) -> float:
    """Return a delta at `epsilon` for shuffled reports, each `local`-private, by `clone_ratios`."""
    weights, ratios = clone_ratios(local, people)
    return min(1.0, float(weights @ np.maximum(ratios - math.expm1(min(epsilon, 700)), 0)))


def shuffled_epsilon(local: float, people: int, delta: float) -> float:
    """Return the smallest epsilon that `shuffled_delta` gives for a delta; never above `local`."""
    weights, ratios = clone_ratios(local, people)
    fits = _smallest(
        lambda epsilon: float(weights @ np.maximum(ratios - math.expm1(epsilon), 0)), delta, min(local, 700)
    )
    return min(local, fits)
