"""What prv-accountant does of the common work."""

from __future__ import annotations

import work
from prv_accountant import PRVAccountant
from prv_accountant.privacy_random_variables import PoissonSubsampledGaussianMechanism

law = PoissonSubsampledGaussianMechanism(noise_multiplier=work.NOISE, sampling_probability=work.RATE)


def bounds() -> tuple[float, float, float]:
    """Return epsilon from below, as estimated, and from above, to within 0.01."""
    accountant = PRVAccountant(
        prvs=[law], max_self_compositions=[work.STEPS], eps_error=0.01, delta_error=work.DELTA / 1000
    )
    return accountant.compute_epsilon(work.DELTA, [work.STEPS])


low, _, high = bounds()
work.tell("accounting", lower=float(low), upper=float(high), seconds=work.timed(bounds, repeats=3))
