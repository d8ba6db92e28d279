"""Accountants behind one face: a run in, bounds on epsilon out.

A run is a list of steps (kind, noise, rate, times) and a delta. The kinds are "sampled" and "gaussian" (noise
multiplier) and "laplace" (epsilon of one step). Every library is imported when it is asked, so that its
absence can be stated and its memory measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

__all__ = ["ACCOUNTANTS", "CALIBRATORS", "Accountant", "Run", "Step", "Unsupported"]


class Step(NamedTuple):
    """So many runs of one mechanism."""

    kind: str
    noise: float
    rate: float
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is accounted for, fixed in advance."""

    name: str
    steps: tuple[Step, ...]
    delta: float


class Unsupported(Exception):
    """The accountant does not know a step of the run."""


Bounds = tuple[float | None, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accountant:
    """A library, how it is set, and how it answers.

    Attributes
    ----------
    package : str
        What must be installed.
    upper : callable
        What is timed: it returns (lower, upper); lower is None where the call gives an upper bound only.
    lower : callable or None
        Where the library can bound from below in another call, which is not timed.
    """

    name: str
    package: str
    upper: Callable[[Run], Bounds]
    lower: Callable[[Run], float] | None = None


def discreet_event(steps: tuple[Step, ...]) -> object:
    """Return the event of a run."""
    from discreet.privacy import events

    total = events.Nothing
    for kind, noise, rate, times in steps:
        one = events.Laplace(epsilon=noise) if kind == "laplace" else events.Gaussian(noise_multiplier=noise)
        total = total + (events.PoissonSampled(one, rate=rate) if kind == "sampled" else one) * times
    return total


def discreet_bounds(run: Run) -> Bounds:
    """Certified bounds from both sides."""
    from discreet.accounting import epsilon

    found = epsilon(discreet_event(run.steps), delta=run.delta)
    return found.lower, found.upper


def dp_event(steps: tuple[Step, ...]) -> object:
    """Return dp-accounting's event of a run."""
    import dp_accounting as dp

    parts = []
    for kind, noise, rate, times in steps:
        one = dp.LaplaceDpEvent(1 / noise) if kind == "laplace" else dp.GaussianDpEvent(noise)
        sampled = dp.PoissonSampledDpEvent(rate, one) if kind == "sampled" else one
        parts.append(dp.SelfComposedDpEvent(sampled, times))
    return dp.ComposedDpEvent(parts)


def dp_accounting_upper(interval: float, run: Run) -> Bounds:
    """The pessimistic privacy loss distribution."""
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=interval)
    return None, accountant.compose(dp_event(run.steps)).get_epsilon(run.delta)


def dp_accounting_lower(interval: float, run: Run) -> float:
    """The optimistic privacy loss distribution, which its accountant does not offer."""
    from dp_accounting.pld import privacy_loss_distribution as distributions

    total = None
    for kind, noise, rate, times in run.steps:
        make, parameter = distributions.from_gaussian_mechanism, noise
        if kind == "laplace":
            make, parameter = distributions.from_laplace_mechanism, 1 / noise
        one = make(
            parameter,
            pessimistic_estimate=False,
            value_discretization_interval=interval,
            sampling_prob=rate,
            use_connect_dots=False,
        )
        steps = one.self_compose(times)
        total = steps if total is None else total.compose(steps)
    return float(total.get_epsilon_for_delta(run.delta))


def prv_bounds(error: float, run: Run) -> Bounds:
    """Bounds from both sides at a chosen error of epsilon; the error of delta is a thousandth of delta."""
    import prv_accountant as prv

    variables = []
    for kind, noise, rate, _ in run.steps:
        if kind == "laplace":
            variables.append(prv.LaplaceMechanism(mu=noise))
        elif kind == "gaussian":
            variables.append(prv.GaussianMechanism(noise_multiplier=noise))
        else:
            variables.append(
                prv.PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=noise)
            )
    times = [step.times for step in run.steps]
    accountant = prv.PRVAccountant(
        prvs=variables, max_self_compositions=times, eps_error=error, delta_error=run.delta / 1000
    )
    low, _, high = accountant.compute_epsilon(delta=run.delta, num_self_compositions=times)
    return max(float(low), 0.0), float(high)


def opacus_upper(name: str, run: Run) -> Bounds:
    """Opacus' accountants of sampled Gaussians: upper bounds."""
    from opacus.accountants import PRVAccountant, RDPAccountant

    accountant = {"rdp": RDPAccountant, "prv": PRVAccountant}[name]()
    for kind, noise, rate, times in run.steps:
        if kind == "laplace":
            raise Unsupported
        accountant.history.append((noise, rate, times))
    return None, float(accountant.get_epsilon(run.delta))


ACCOUNTANTS = [
    Accountant(name="discreet", package="discreet", upper=discreet_bounds),
    *(
        Accountant(
            name=f"dp-accounting {label}",
            package="dp_accounting",
            upper=partial(dp_accounting_upper, interval),
            lower=partial(dp_accounting_lower, interval),
        )
        for label, interval in (("1e-4 (default)", 1e-4), ("1e-5 (fine)", 1e-5))
    ),
    *(
        Accountant(name=f"prv-accountant {label}", package="prv_accountant", upper=partial(prv_bounds, error))
        for label, error in ((".1 (default)", 0.1), (".01 (fine)", 0.01))
    ),
    Accountant(name="Opacus RDP", package="opacus", upper=partial(opacus_upper, "rdp")),
    Accountant(name="Opacus PRV", package="opacus", upper=partial(opacus_upper, "prv")),
]


def discreet_noise(rate: float, times: int, epsilon: float, delta: float) -> float:
    """The smallest certified noise, to a relative 1e-7."""
    from discreet.accounting import calibrate

    return calibrate(
        lambda noise: discreet_event((Step("sampled", noise, rate, times),)), epsilon=epsilon, delta=delta
    )


def dp_accounting_noise(rate: float, times: int, epsilon: float, delta: float) -> float:
    """dp-accounting's search over its PLD accountant, with its defaults."""
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    found = dp.calibrate_dp_mechanism(
        PLDAccountant,
        lambda noise: dp_event((Step("sampled", noise, rate, times),)),
        epsilon,
        delta,
        bracket_interval=dp.LowerEndpointAndGuess(0.3, 4.0),
    )
    return float(found)


def opacus_noise(rate: float, times: int, epsilon: float, delta: float) -> float:
    """Opacus' search over its PRV accountant, with its default tolerance of 0.01 in epsilon."""
    from opacus.accountants.utils import get_noise_multiplier

    return float(
        get_noise_multiplier(
            target_epsilon=epsilon, target_delta=delta, sample_rate=rate, steps=times, accountant="prv"
        )
    )


CALIBRATORS = {
    "discreet": ("discreet", discreet_noise),
    "dp-accounting": ("dp_accounting", dp_accounting_noise),
    "Opacus PRV": ("opacus", opacus_noise),
}
"""By name: what must be installed, and a function of (rate, times, epsilon, delta)."""
