"""The one place that says how often a statistical test may fail by chance.

Over the choice of ``SEED`` (tests/randomness.py) every statistical test fails by chance with
probability `FALSE_ALARM`. A suite of a thousand such tests raises one false alarm in a
million seeds. A test that *rejects* a wrong law is sized so that it misses with
no larger probability.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable

FALSE_ALARM = 1e-9


def fit_p_value(samples: np.ndarray, mass: Callable[[int, int], float], edges: np.ndarray) -> float:
    """Chi-square p-value of integer samples against bins [edges[i], edges[i+1]) and both tails.

    `mass(a, b)` is the probability of a <= Y < b under the law that is claimed.
    """
    total = len(samples)
    expected = np.array([mass(int(a), int(b)) for a, b in pairwise(edges)])
    observed = np.histogram(samples, bins=np.append(edges[:-1], edges[-1] - 0.5))[0].astype(float)
    expected = np.append(expected, max(1 - expected.sum(), 0.0)) * total
    observed = np.append(observed, total - observed.sum())
    full = expected >= 20
    expected = np.append(expected[full], expected[~full].sum())
    observed = np.append(observed[full], observed[~full].sum())
    if expected[-1] < 5:
        expected = np.append(expected[:-2], expected[-2] + expected[-1])
        observed = np.append(observed[:-2], observed[-2] + observed[-1])
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)
