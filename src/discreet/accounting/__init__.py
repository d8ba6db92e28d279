"""Accounting: events in, intervals for epsilon and delta out. It sees no data and draws no noise.

>>> from discreet import accounting, events
>>> run = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
>>> found = accounting.epsilon(run, delta=1e-5)
>>> f"{found.lower:.5f} <= epsilon <= {found.upper:.5f}"
'0.94686 <= epsilon <= 0.94688'

`epsilon` and `delta` are tight for runs that are fixed ahead; `filters` keep a budget while requests
are chosen as answers come in; `ladder` shows the theorems side by side; `calibrate` finds a
parameter; `renyi` and `theorems` hold the bounds they rest on; `meaning` says what an epsilon means.
"""

from __future__ import annotations

from discreet.accounting import filters, meaning, renyi, theorems
from discreet.accounting.calibration import calibrate
from discreet.accounting.interval import Interval
from discreet.accounting.ladder import ladder
from discreet.accounting.tight import delta, epsilon

__all__ = ["Interval", "calibrate", "delta", "epsilon", "filters", "ladder", "meaning", "renyi", "theorems"]
