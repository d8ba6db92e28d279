"""Accounting: events in, intervals for epsilon and delta out. It sees no data and draws no noise.

>>> from discreet import accounting, events
>>> run = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
>>> found = accounting.epsilon(run, delta=1e-5)
>>> f"{found.lower:.5f} <= epsilon <= {found.upper:.5f}"
'0.94686 <= epsilon <= 0.94688'

- `epsilon`, `delta`: tight bounds, from both sides, for runs that are fixed in advance; `curve` and
  `profile` at many deltas and epsilons at once.
- `divergence`, `rho`, `mu`, `tradeoff`: other views of the same event; `meaning` says what they mean.
- `calibrate`, `most_steps`: the noise, rate, sensitivity or number of steps that keeps a promise.
- `ladder`: the theorems side by side; `renyi` and `theorems` hold the bounds they rest on.
- `filters`: budgets that hold while requests are chosen as answers come in.
- `loss_distributions`, `read_losses`: privacy-loss distributions for, and from, other accountants.
- `instance_losses`: what a release reveals about each person who is in the data, exactly; private.
- `participation`: matrix mechanisms whose units take part several times, amplified ones too.
- `plot`: figures of all of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.accounting import filters, meaning, participation, plot, renyi, theorems
    from discreet.accounting.calibration import calibrate, most_steps
    from discreet.accounting.curves import curve, profile
    from discreet.accounting.distributions import LossDistribution, loss_distributions, read_losses
    from discreet.accounting.epsilon_and_delta import delta, epsilon
    from discreet.accounting.instances import instance_event, instance_losses, largest_shift_guarantee
    from discreet.accounting.interval import Interval
    from discreet.accounting.ladder import ladder
    from discreet.accounting.rho_and_mu import divergence, mu, rho
    from discreet.accounting.tradeoff import tradeoff

__all__ = [
    "Interval",
    "LossDistribution",
    "calibrate",
    "curve",
    "delta",
    "divergence",
    "epsilon",
    "filters",
    "instance_event",
    "instance_losses",
    "ladder",
    "largest_shift_guarantee",
    "loss_distributions",
    "meaning",
    "most_steps",
    "mu",
    "participation",
    "plot",
    "profile",
    "read_losses",
    "renyi",
    "rho",
    "theorems",
    "tradeoff",
]

_HOMES = {
    "Interval": "discreet.accounting.interval",
    "LossDistribution": "discreet.accounting.distributions",
    "calibrate": "discreet.accounting.calibration",
    "curve": "discreet.accounting.curves",
    "delta": "discreet.accounting.epsilon_and_delta",
    "divergence": "discreet.accounting.rho_and_mu",
    "epsilon": "discreet.accounting.epsilon_and_delta",
    "instance_event": "discreet.accounting.instances",
    "instance_losses": "discreet.accounting.instances",
    "ladder": "discreet.accounting.ladder",
    "largest_shift_guarantee": "discreet.accounting.instances",
    "loss_distributions": "discreet.accounting.distributions",
    "most_steps": "discreet.accounting.calibration",
    "mu": "discreet.accounting.rho_and_mu",
    "profile": "discreet.accounting.curves",
    "read_losses": "discreet.accounting.distributions",
    "rho": "discreet.accounting.rho_and_mu",
    "tradeoff": "discreet.accounting.tradeoff",
}

publish(__name__, homes=_HOMES)
