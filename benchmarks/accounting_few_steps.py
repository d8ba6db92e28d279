"""Few steps, small rates, small deltas, many parts: discreet and dp-accounting side by side, in one process.

Each case is run once to warm up and then a few times on noise that differs by a billionth part, so that
nothing is remembered; the median processor time counts. discreet answers from both sides, to a relative 1e-4;
the other accountant gives an upper bound with its default discretization of 1e-4. `ratio` is its time over
ours.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.accounting_peers import Run, Step, discreet_bounds, discreet_noise, dp_accounting_upper

__all__ = ["print_few_steps"]

REPEATS = 3
DELTAS = np.geomspace(1e-12, 0.1, 65)
SAMPLED = [
    *((f"sigma 1, q .01, T {times}, delta 1e-5", 1.0, 0.01, times, 1e-5) for times in (1, 5, 30, 300, 1000)),
    ("sigma .7, q 1e-4, T 2, delta 1e-6", 0.7, 1e-4, 2, 1e-6),
    ("sigma 1, q 1e-3, T 300, delta 1e-12", 1.0, 1e-3, 300, 1e-12),
    ("sigma 4, q .01, T 1000, delta 1e-5", 4.0, 0.01, 1000, 1e-5),
    ("sigma 1, q .2, T 500, delta 1e-5", 1.0, 0.2, 500, 1e-5),
]
LAPLACES = [0.01 + 0.0005 * number for number in range(200)]
CALIBRATIONS = [(0.01, 300, 1.0, 1e-5), (0.01, 5, 1.0, 1e-6), (1e-4, 2, 0.006, 1e-6)]

Answer = Callable[[float], object]


def _timed(answer: Answer) -> tuple[float, object]:
    """Return the median processor time in milliseconds, and an answer."""
    answer(1.0)
    spent = []
    for repeat in range(REPEATS):
        start = time.process_time()
        found = answer(1 + (repeat + 1) * 1e-9)
        spent.append(time.process_time() - start)
    return 1e3 * statistics.median(spent), found


def _sampled(noise: float, rate: float, times: int, delta: float) -> tuple[Answer, Answer]:
    def run(factor: float) -> Run:
        return Run(name="", steps=(Step("sampled", noise * factor, rate, times),), delta=delta)

    return lambda factor: discreet_bounds(run(factor)), lambda factor: dp_accounting_upper(1e-4, run(factor))


def _curve(noise: float, rate: float, times: int) -> tuple[Answer, Answer]:
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    from discreet.accounting import curve
    from discreet.privacy import events

    def ours(factor: float) -> object:
        step = events.PoissonSampled(events.Gaussian(noise_multiplier=noise * factor), rate=rate)
        found = curve(step * times, deltas=DELTAS)
        return found.lower[0], found.upper[0]

    def theirs(factor: float) -> object:
        step = dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(noise * factor))
        accountant = PLDAccountant().compose(step, times)
        return None, max(accountant.get_epsilon(delta) for delta in DELTAS)

    return ours, theirs


def _laplaces(*, by_plus: bool) -> tuple[Answer, Answer]:
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    from discreet.accounting import epsilon
    from discreet.privacy import events

    def ours(factor: float) -> object:
        steps = [events.Laplace(epsilon=loss * factor) for loss in LAPLACES]
        if by_plus:
            total = events.Nothing
            for step in steps:
                total += step
        else:
            total = events.compose(steps)
        found = epsilon(total, delta=1e-6)
        return found.lower, found.upper

    def theirs(factor: float) -> object:
        accountant = PLDAccountant()
        for loss in LAPLACES:
            accountant.compose(dp.LaplaceDpEvent(1 / (loss * factor)))
        return None, accountant.get_epsilon(1e-6)

    return ours, theirs


def print_few_steps(*, quick: bool = False) -> None:
    """Print a row for every case: bounds and time of both, and the ratio of the times."""
    warnings.simplefilter("ignore")
    cases: list[tuple[str, tuple[Answer, Answer]]] = [
        (name, _sampled(noise, rate, times, delta)) for name, noise, rate, times, delta in SAMPLED
    ]
    if not quick:
        cases += [
            ("65 deltas, sigma 1, q .01, T 300", _curve(1.0, 0.01, 300)),
            ("65 deltas, sigma 4, q .01, T 1000", _curve(4.0, 0.01, 1000)),
            ("200 distinct Laplaces", _laplaces(by_plus=False)),
            ("200 distinct Laplaces, added by +", _laplaces(by_plus=True)),
        ]
    print("Few steps: discreet (both sides) and dp-accounting (upper bound), processor time in one process")
    print(f"  {'':<42} {'lower':>11} {'upper':>11} {'peer':>11} {'ms':>9} {'peer ms':>9} {'ratio':>7}")
    for name, (ours, theirs) in cases:
        spent, found = _timed(ours)
        other, peer = _timed(theirs)
        lower, upper = found  # type: ignore[misc]
        shown = f"{lower:>11.7f}" if lower is not None else f"{'':>11}"
        bounds = f"{shown} {upper:>11.7f} {peer[1]:>11.7f}"  # type: ignore[index]
        print(f"  {name:<42} {bounds} {spent:>9.1f} {other:>9.1f} {other / spent:>7.1f}", flush=True)
    if not quick:
        for rate, times, epsilon, delta in CALIBRATIONS:
            spent, noise = _timed(lambda factor: discreet_noise(rate, times, epsilon * factor, delta))  # noqa: B023
            name = f"sigma for epsilon {epsilon:g} at {delta:g}, q {rate:g}, T {times}"
            print(f"  {name:<54} {noise:>11.7f} {spent:>21.1f}", flush=True)
