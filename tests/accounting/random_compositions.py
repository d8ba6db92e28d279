"""Random compositions, as plain records that both accountants can read, from a seed.

Only `random.Random.random` is called, whose values are the same on every machine and in every version, and no
order of a set or a hash enters. References take minutes to hours and are stored beside this file;
`python -m accounting.random_compositions 300`, run in `tests`, computes them again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import count, islice
from math import exp, inf, log, log1p, log10, sqrt
from pathlib import Path
from random import Random
from sys import argv

import mpmath
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from accounting import exact_accountant, fft_accountant
from accounting.loss_laws import (
    Gaussian,
    Laplace,
    Law,
    Run,
    SampledGaussian,
    best_order,
    discrete_laplace,
    randomized_response,
)

SEED = 27_182_818
LEAST, MOST, WIDEST = 1e-4, 60.0, 2e-6
KINDS = ("laplace", "gaussian", "sampled", "discrete_laplace", "randomized_response", "pure")
STORED = Path(__file__).with_name("random_compositions.json")

Part = tuple[str, tuple[str, ...], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Parts (kind, parameters as typed, times), a delta as typed, and bounds on epsilon, once known.

    `number` counts the draws from the seed.
    """

    number: int
    parts: tuple[Part, ...]
    delta: str
    reference: tuple[float, float] = (0.0, inf)

    def __str__(self) -> str:
        parts = " + ".join(f"{kind}({', '.join(values)}) * {times}" for kind, values, times in self.parts)
        return f"{parts} at {self.delta}"


def _typed(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}g}"


def _gaussian_size(epsilon: float, delta: float) -> float:
    """Return the mu for which a Gaussian step has this epsilon and delta."""

    def excess(log_mu: float) -> float:
        mu = exp(log_mu)
        far = exp(min(0.0, epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))))
        return float(ndtr(mu / 2 - epsilon / mu)) - far - delta

    return exp(brentq(excess, log(1e-9), log(1e3)))


def _within(uniform: Random, low: float, high: float) -> float:
    """Return a number from low to high, and in one case of eight one of the two ends."""
    share, edge = uniform.random(), uniform.random()
    share = round(share) if edge < 0.125 else share
    return low + (high - low) * share


def _kinds(uniform: Random, several: int) -> list[str]:
    """Choose kinds whose relations mix: local reports replace a person, samples add or remove one."""
    pool, chosen = list(KINDS), []
    while len(chosen) < several:
        kind = pool.pop(int(len(pool) * uniform.random()))
        chosen.append(kind)
        pool = [other for other in pool if {kind, other} != {"sampled", "randomized_response"}]
    return chosen


def _parameters(uniform: Random, kind: str, variance: float) -> tuple[str, ...]:
    """Choose noise whose loss has about this variance."""
    loss = sqrt(variance) if variance < 1 else (1 + variance) / 2
    if kind == "gaussian":
        return (_typed(variance**-0.5),)
    if kind == "sampled":
        rate = 10 ** (-4 + 3.7 * uniform.random())
        rate = min(0.9, max(rate, sqrt(variance) / 10 ** (1.3 * uniform.random())))
        rate = float(_typed(rate))
        return _typed(log1p(variance / rate**2) ** -0.5), _typed(rate)
    if kind == "discrete_laplace":
        shift = 1 + int(6 * uniform.random())
        return str(shift), _typed(shift / loss)
    if kind == "randomized_response":
        categories = 2 + int(9 * uniform.random())
        truth, lie = round(1e9 * exp(loss)), 10**9
        return f"{truth}/{truth + (categories - 1) * lie}", str(categories)
    return (_typed(loss),)


def _draw(uniform: Random, number: int) -> Case:
    """Draw a composition: delta, the epsilon to aim at, the number of steps, the kinds, then the noise."""
    delta = _typed(10 ** _within(uniform, -12, -1), 3)
    aim = 10 ** _within(uniform, -4, log10(60))
    total = 10 ** _within(uniform, 0, 7)
    several = 1 if uniform.random() < 0.5 else 2 + int(3 * uniform.random())
    kinds = _kinds(uniform, several)
    sizes = [0.1 + uniform.random() for _ in kinds]
    runs = [10 ** (-3 * uniform.random()) for _ in kinds]
    mu = _gaussian_size(aim, float(delta))
    parts = []
    for kind, size, run in zip(kinds, sizes, runs, strict=True):
        times = max(1, round(total * run / sum(runs)))
        variance = mu * mu * size / sum(sizes) / times
        parts.append((kind, _parameters(uniform, kind, variance), times))
    return Case(number=number, parts=tuple(parts), delta=delta)


def drawn() -> Iterator[Case]:
    """Yield all compositions of the seed."""
    uniform = Random(SEED)
    for number in count():
        yield _draw(uniform, number)


def laws(case: Case) -> list[tuple[Law, int]]:
    """Return the composition as the oracle reads it."""
    return [(_law(kind, values), times) for kind, values, times in case.parts]


def _law(kind: str, values: tuple[str, ...]) -> Law:
    first = float(Fraction(values[0]))
    if kind == "laplace":
        return Laplace(first)
    if kind == "gaussian":
        return Gaussian(first)
    if kind == "sampled":
        return SampledGaussian(first, float(values[1]))
    if kind == "discrete_laplace":
        return discrete_laplace(int(first), float(values[1]))
    if kind == "pure":
        return randomized_response(first, 2)
    truth, categories = Fraction(values[0]), int(values[1])
    lie = (1 - truth) / (categories - 1)
    return randomized_response(log1p(float((truth - lie) / lie)), categories)


def reference(case: Case) -> tuple[float, float]:
    """Return bounds on epsilon, as close as any method gets.

    Closed form; residues; the exact lattice; the contour in extended precision, guarded by the bounds of
    the Fourier transform; or these bounds themselves.
    """
    run, delta = laws(case), float(case.delta)
    (kind, values, times), *others = case.parts
    if not others and kind == "gaussian":
        value = float(exact_accountant.gaussian_epsilon(mpmath.sqrt(times) / mpmath.mpf(values[0]), delta))
        return value, value
    if not others and kind == "laplace" and times <= 300:
        value = float(exact_accountant.laplace_epsilon(values[0], times, delta))
        return value, value
    if not others and kind not in ("laplace", "sampled"):
        return _widened(fft_accountant.epsilon(run, delta), run, delta)
    guard = fft_accountant.epsilon(run, delta, 1e-3)
    if guard[1] < LEAST:
        return guard
    value, error = exact_accountant.exact_epsilon(run, delta)
    if value > 0 and error < 1e-9:
        if not guard[0] <= value <= guard[1]:
            raise ArithmeticError(f"two references differ: {case}")
        return value * (1 - error), value * (1 + error)
    if not others and kind == "laplace":
        return _widened(fft_accountant.epsilon(run, delta, 1e-11), run, delta)
    return _widened(fft_accountant.epsilon(run, delta, 1e-6), run, delta)


def _widened(bounds: tuple[float, float], run: Run, delta: float) -> tuple[float, float]:
    """Leave room for the rounding of the transform, a relative error of delta ~ exp(-order epsilon)."""
    error = 1e-13 + 2e-16 * sum(times for _, times in run)
    slack = error / min(1.0, best_order(run, delta) * bounds[1]) if bounds[1] else 0.0
    return min(bounds) * (1 - slack), max(bounds) * (1 + slack)


def stored() -> list[Case]:
    """Return the compositions whose reference is known."""
    return [
        Case(
            number=record["number"],
            parts=tuple((kind, tuple(values), times) for kind, values, times in record["parts"]),
            delta=record["delta"],
            reference=tuple(record["reference"]),
        )
        for record in json.loads(STORED.read_text(encoding="utf-8"))
    ]


def _store(draws: int) -> None:
    """Keep those whose epsilon lies in the range of the grid."""
    records = []
    for case in islice(drawn(), draws):
        known = replace(case, reference=reference(case))
        if known.reference[0] >= LEAST and known.reference[1] <= MOST:
            records.append(json.dumps(asdict(known)))
    STORED.write_text("[\n" + ",\n".join(records) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    _store(int(argv[1]))
