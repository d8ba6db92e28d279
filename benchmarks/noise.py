"""Samples per second of exact noise, against NumPy's insecure generator and OpenDP, in one run.

`sampler` draws noise alone, as NumPy does; `release` is the whole mechanism on an array of integers,
which is what OpenDP does on a list of them (the fastest input it takes).

Run with ``make bench``, or ``python -m benchmarks.noise``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.mechanisms import Gaussian, Laplace
from discreet.noise import current, sample_gaussian, sample_laplace, sample_rounded_gaussian

DRAWS = 1_000_000
PEER_DRAWS = 20_000
SCALES = (1, 10, 10_000)
REPEATS = 9


def rate(draw: Callable[[], object], draws: int, repeats: int = REPEATS) -> float:
    """Return the median number of samples per second of a call that draws `draws` of them."""
    draw()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        draw()
        seconds.append(time.perf_counter() - start)
    return draws / statistics.median(seconds)


def peer_samplers(scale: int) -> dict[str, Callable[[], object]]:
    """Return OpenDP's integer vector samplers, if it is installed."""
    try:
        import opendp.prelude as opendp
    except ImportError:
        return {}
    opendp.enable_features("contrib")
    integers = opendp.vector_domain(opendp.atom_domain(T=int))
    laplace = opendp.m.make_laplace(integers, opendp.l1_distance(T=int), float(scale))
    gaussian = opendp.m.make_gaussian(integers, opendp.l2_distance(T=float), float(scale))
    zeros = [0] * PEER_DRAWS
    return {"laplace": lambda: laplace(zeros), "gaussian": lambda: gaussian(zeros)}


def main() -> None:
    """Print the table."""
    insecure = np.random.default_rng()
    numpy_rates = {
        "laplace": rate(lambda: insecure.laplace(size=DRAWS), DRAWS),
        "normal": rate(lambda: insecure.normal(size=DRAWS), DRAWS),
    }
    print(f"{DRAWS:,} draws in one call, millions of samples per second (median of {REPEATS} runs)\n")
    for name, numpy_rate in numpy_rates.items():
        print(f"NumPy's {name}, not private: {numpy_rate / 1e6:.1f}")
    columns = f"{'sampler':>9} {'/ laplace':>10} {'/ normal':>9} {'release':>9} {'OpenDP':>8} {'/ OpenDP':>9}"
    print(f"\n{'law':<18} {'scale':>7} {columns}")
    zeros = np.zeros(DRAWS, np.int64)
    for scale in SCALES:
        peers = peer_samplers(scale)
        laplace, gaussian = Laplace(sensitivity=1, scale=scale), Gaussian(sensitivity=1, sigma=scale)
        rounded = Gaussian(sensitivity=1, mu=Fraction(1, scale))
        samplers: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "laplace": (
                lambda scale=scale: sample_laplace(Fraction(scale), DRAWS, current()),
                lambda laplace=laplace: laplace.release(zeros),
            ),
            "gaussian": (
                lambda scale=scale: sample_gaussian(Fraction(scale) ** 2, DRAWS, current()),
                lambda gaussian=gaussian: gaussian.release(zeros),
            ),
            "rounded": (
                lambda scale=scale: sample_rounded_gaussian(Fraction(scale) ** 2, DRAWS, current()),
                lambda rounded=rounded: rounded.release(zeros),
            ),
        }
        for law, (draw, release) in samplers.items():
            noise, released = rate(draw, DRAWS), rate(release, DRAWS)
            peer = rate(peers[law], PEER_DRAWS, repeats=3) if law in peers else None
            peer_columns = f"{peer / 1e6:>8.3f} {released / peer:>8.0f}x" if peer else f"{'-':>8} {'-':>9}"
            print(
                f"{law:<18} {scale:>7} {noise / 1e6:>9.1f} {noise / numpy_rates['laplace']:>9.2f}x"
                f" {noise / numpy_rates['normal']:>8.2f}x {released / 1e6:>9.1f} {peer_columns}"
            )


if __name__ == "__main__":
    main()
