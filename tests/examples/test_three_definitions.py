"""Three definitions of privacy by enumeration: the same if pure, in order if approximate."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import exp

import pytest

from discreet.accounting import delta
from discreet.mechanisms import Laplace
from examples import three_definitions as example


def test_all_events_are_tried():
    """The largest gain over subsets, spelled out, is the sum of the positive gains."""
    first, second = (
        (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),
        (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)),
    )
    for factor in example.FACTORS:
        gains = [p - factor * q for p, q in zip(first, second, strict=True)]
        subsets = [sum(one) for size in range(4) for one in combinations(gains, size)]
        assert example.by_events(first, second, factor) == max(subsets)
        assert max(subsets) == sum(max(gain, 0) for gain in gains)


def test_pure_definitions_agree_and_approximate_ones_do_not():
    found = example.agreement()
    assert found["pairs"] == 28**2 * 4
    assert found["pure alike"] == found["in order"] == found["pairs"]
    assert found["delta alike"] < found["pairs"]
    assert found["outcomes lower"] > 100
    assert found["loss higher"] > 100


@pytest.mark.parametrize("size", [2, 4, 8])
def test_outcomes_alone_promise_nothing(size):
    apart = [Fraction(1, size)] * size + [Fraction(0)] * size
    assert example.by_outcomes(apart, apart[::-1], Fraction(5)) == Fraction(1, size)
    assert example.by_events(apart, apart[::-1], Fraction(5)) == 1


def test_a_delta_by_events_bounds_the_loss_at_twice_epsilon():
    """P(L > 2 epsilon) (1 - e^-epsilon) <= delta(epsilon): so the loss is implied, at a price."""
    for first in example.laws():
        for second in example.laws():
            for factor in example.FACTORS[1:]:
                exact = example.by_events(first, second, factor)
                assert example.by_loss(first, second, factor**2) * (1 - 1 / factor) <= exact


def test_events_are_what_the_accountant_charges():
    """Clamping is at outcomes whose losses are all alike, so it changes no delta."""
    event = Laplace(sensitivity=1, epsilon=1).event
    pair = example.laplace_pair(1.0)
    for epsilon in (0.25, 0.5, 0.99):
        assert float(delta(event, epsilon=epsilon)) == pytest.approx(
            example.by_events(*pair, exp(epsilon)), rel=1e-9
        )
    assert example.by_loss(*pair, exp(0.99)) == pytest.approx(1 / (1 + exp(-1)), rel=1e-12)


def test_it_prints_and_draws(capsys, tmp_path):
    example.main(str(tmp_path))
    assert "1.0 by events" in capsys.readouterr().out
    assert (tmp_path / "three_definitions.png").exists()
