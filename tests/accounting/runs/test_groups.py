"""Groups that face samples: the best of several valid ways, never below what one unit faces."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import pytest

from discreet.accounting import delta, epsilon
from discreet.privacy import events
from discreet.privacy.grouping import group_delta

RUN = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate="0.01") * 10_000


def test_a_group_of_a_sampled_run_is_charged_along_the_chain():
    found = epsilon(events.group(RUN, 2), delta=1e-6)
    one = epsilon(RUN, delta=1e-6)
    assert one.lower <= found.lower <= found.upper < 3 * one.upper
    each = Fraction(found.upper) / 2
    assert group_delta(each, Fraction(delta(RUN, epsilon=each).upper), 2) <= Fraction(1, 10**6)
    by_rho = events.group(RUN, 2).parts[0][0].simple * 10_000
    assert found.upper < 3
    assert epsilon(by_rho, delta=1e-6).upper > 1000


def test_where_a_rho_is_better_it_is_taken():
    whole = events.PoissonSampled(events.Gaussian(noise_multiplier=5), rate="0.99")
    simple = events.ZeroConcentrated(rho=Fraction(16, 50), neighbors=whole.neighbors.group(4))
    assert epsilon(events.group(whole, 4), delta=1e-9).upper <= epsilon(simple, delta=1e-9).upper


def test_other_steps_add_up():
    mixed = events.group(RUN + events.Laplace(epsilon="0.1"), 2)
    alone = epsilon(events.group(RUN, 2), delta=5e-7)
    assert epsilon(mixed, delta=1e-6).upper <= alone.upper + 0.2 + 1e-9
    assert delta(mixed, epsilon=2).upper <= 1


@pytest.mark.parametrize("size", [2, 3])
def test_no_group_of_a_small_table_exceeds_it(size):
    """All groups that come or go, against all samples of them, by enumeration; one bit is reported."""
    rate, truth = Fraction(1, 4), Fraction(3, 4)

    def report(people):
        """A response to whether an odd number is there: any two samples are neighbors of the truth."""
        chance = Fraction(0)
        for inside in product((0, 1), repeat=people):
            weight = Fraction(1)
            for bit in inside:
                weight *= rate if bit else 1 - rate
            chance += weight * (truth if sum(inside) % 2 else 1 - truth)
        return [chance, 1 - chance]

    step = events.PoissonSampled(events.Pure(epsilon="1.0986122886681099"), rate=rate)
    grouped = events.group(step, size)
    for at in (0, Fraction(1, 10), Fraction(1, 2)):
        found = delta(grouped, epsilon=at)
        for before in range(4):
            for after in range(before, min(before + size, 4) + 1):
                p, q = report(before), report(after)
                ratio = Fraction(exp(float(at)))
                for one, other in ((p, q), (q, p)):
                    truth_here = sum(max(a - ratio * b, Fraction(0)) for a, b in zip(one, other, strict=True))
                    assert float(truth_here) <= found.upper + 1e-12
