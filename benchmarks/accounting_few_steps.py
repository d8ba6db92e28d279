"""Few steps, small rates, small deltas, many parts: discreet and dp-accounting side by side, in one process.

Each case is run once to warm up and then a few times on noise that differs by a billionth part, so that
nothing is remembered; the least processor time counts. discreet answers from both sides, to a relative 1e-4;
the other accountant gives an upper bound with its default discretization of 1e-4, an absolute one. It is
asked in two ways: by its accountant, and by its distributions directly. `ratio` is the lesser of both times
over ours, `off` how far its upper bound is from our upper one; below minus 1e-4, it is below our lower one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.accounting_peers import Run, Step, discreet_bounds, discreet_noise, dp_accounting_upper

__all__ = ["print_few_steps"]

REPEATS = 5
DELTAS = np.geomspace(1e-12, 0.1, 65)
SAMPLED = [
    *((f"sigma 1, q .01, T {times}, delta 1e-5", 1.0, 0.01, times, 1e-5) for times in (1, 5, 30, 300, 1000)),
    ("sigma .7, q 1e-4, T 2, delta 1e-6", 0.7, 1e-4, 2, 1e-6),
    ("sigma 1, q 1e-3, T 300, delta 1e-12", 1.0, 1e-3, 300, 1e-12),
    ("sigma 4, q .01, T 1000, delta 1e-5", 4.0, 0.01, 1000, 1e-5),
    ("sigma 1, q .2, T 500, delta 1e-5", 1.0, 0.2, 500, 1e-5),
    *((f"sigma 4, q .001, T {times}, delta 1e-6", 4.0, 1e-3, times, 1e-6) for times in (1, 5, 30, 300)),
    *((f"sigma 20, q .01, T {times}, delta 1e-6", 20.0, 1e-2, times, 1e-6) for times in (1, 5, 30, 300)),
]
LAPLACES = [0.01 + 0.0005 * number for number in range(200)]
CALIBRATIONS = [(0.01, 300, 1.0, 1e-5), (0.01, 5, 1.0, 1e-6), (1e-4, 2, 0.006, 1e-6)]

Answer = Callable[[float], object]


def _timed(answer: Answer) -> tuple[float, object]:
    """Return the least processor time in milliseconds, and an answer."""
    answer(1.0)
    spent = []
    for repeat in range(REPEATS):
        start = time.process_time()
        found = answer(1 + (repeat + 1) * 1e-9)
        spent.append(time.process_time() - start)
    return 1e3 * min(spent), found


def _sampled(noise: float, rate: float, times: int, delta: float) -> tuple[Answer, ...]:
    from dp_accounting.pld import privacy_loss_distribution as distributions

    def run(factor: float) -> Run:
        return Run(name="", steps=(Step("sampled", noise * factor, rate, times),), delta=delta)

    def direct(factor: float) -> object:
        step = distributions.from_gaussian_mechanism(noise * factor, sampling_prob=rate)
        return None, step.self_compose(times).get_epsilon_for_delta(delta)

    return (
        lambda factor: discreet_bounds(run(factor)),
        lambda factor: dp_accounting_upper(1e-4, run(factor)),
        direct,
    )


def _curve(noise: float, rate: float, times: int) -> tuple[Answer, ...]:
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.pld import privacy_loss_distribution as distributions

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

    def direct(factor: float) -> object:
        run = distributions.from_gaussian_mechanism(noise * factor, sampling_prob=rate).self_compose(times)
        return None, max(run.get_epsilon_for_delta(delta) for delta in DELTAS)

    return ours, theirs, direct


def _laplaces(*, by_plus: bool) -> tuple[Answer, ...]:
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.pld import privacy_loss_distribution as distributions

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

    def direct(factor: float) -> object:
        total = distributions.identity()
        for loss in LAPLACES:
            total = total.compose(distributions.from_laplace_mechanism(1 / (loss * factor)))
        return None, total.get_epsilon_for_delta(1e-6)

    return ours, theirs, direct


def print_few_steps(*, quick: bool = False) -> None:
    """Print a row for every case: bounds and times, and the ratio of the times."""
    warnings.simplefilter("ignore")
    cases: list[tuple[str, tuple[Answer, ...]]] = [
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
    columns = f"{'lower':>11} {'upper':>11} {'peer':>11} {'off':>8} {'ms':>7} {'peer ms':>8} {'direct':>8}"
    print(f"  {'':<39} {columns} {'ratio':>7}")
    slower = []
    for name, (ours, *theirs) in cases:
        spent, found = _timed(ours)
        peers = [_timed(peer) for peer in theirs]
        lower, upper = found  # type: ignore[misc]
        peer = min(answer[1] for _, answer in peers)  # type: ignore[index]
        ratio = min(other for other, _ in peers) / spent
        slower += [name] if ratio < 1 else []
        bounds = f"{lower:>11.7f} {upper:>11.7f} {peer:>11.7f} {peer / upper - 1:>8.0e}"
        times = f"{spent:>7.1f} " + " ".join(f"{other:>8.1f}" for other, _ in peers)
        print(f"  {name:<39} {bounds} {times} {ratio:>7.1f}", flush=True)
    print(f"  slower than dp-accounting: {', '.join(slower) or 'none'}")
    if not quick:
        for rate, times, epsilon, delta in CALIBRATIONS:
            spent, noise = _timed(lambda factor: discreet_noise(rate, times, epsilon * factor, delta))  # noqa: B023
            name = f"sigma for epsilon {epsilon:g} at {delta:g}, q {rate:g}, T {times}"
            print(f"  {name:<54} {noise:>11.7f} {spent:>21.1f}", flush=True)
