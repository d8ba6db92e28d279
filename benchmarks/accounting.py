"""Time and width of certified epsilon against dp-accounting, in one run.

Run with ``python -m benchmarks.accounting``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from discreet.accounting import epsilon
from discreet.privacy import events

CASES = [
    (4.0, 0.01, 10_000, 1e-5),
    (0.8, 0.001, 100_000, 1e-6),
    (4.0, 0.001, 10**6, 1e-6),
    (1.0, 1e-4, 10**6, 1e-6),
]


def seconds(answer: Callable[[], object], repeats: int = 5) -> float:
    """Return the median processor time of a call."""
    answer()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        answer()
        times.append(time.process_time() - start)
    return statistics.median(times)


def peer(noise: float, rate: float, times: int, delta: float) -> Callable[[], float] | None:
    """Return dp-accounting's PLD answer, if it is installed."""
    try:
        import dp_accounting
        from dp_accounting.pld import PLDAccountant
    except ImportError:
        return None
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
    return lambda: PLDAccountant().compose(step, times).get_epsilon(delta)


def main() -> None:
    """Print the table."""
    print(" sigma    rate     steps      lower      upper      ms       peer      ms  ratio")
    for noise, rate, times, delta in CASES:
        run = events.PoissonSampled(events.Gaussian(noise_multiplier=noise), rate=rate) * times
        ours = seconds(lambda run=run, delta=delta: epsilon(run, delta=delta))
        found = epsilon(run, delta=delta)
        line = f"{noise:>6} {rate:>7} {times:>9} {found.lower:>10.6f} {found.upper:>10.6f} {ours * 1e3:>7.1f}"
        theirs = peer(noise, rate, times, delta)
        if theirs is not None:
            spent = seconds(theirs)
            line += f" {theirs():>10.6f} {spent * 1e3:>7.1f}  {spent / ours:.0f}x"
        print(line)


if __name__ == "__main__":
    main()
