from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.privacy import events


def test_costs_that_follow_from_the_guarantee():
    assert events.Pure(epsilon=2).pure_epsilon == 2
    assert events.Pure(epsilon=2).concentrated_rho == 2
    assert events.ZeroConcentrated(rho="1/3").concentrated_rho == Fraction(1, 3)
    assert events.ZeroConcentrated(rho=1).pure_epsilon is None
    assert events.Approximate(epsilon=1, delta=0).pure_epsilon == 1
    assert events.Approximate(epsilon=1, delta=1e-9).pure_epsilon is None
    assert events.Approximate(epsilon=1, delta=1e-9).concentrated_rho is None
    assert events.Renyi(curve=[(2, 1)]).concentrated_rho is None


def test_a_curve_is_kept_in_order_and_exact():
    curve = events.Renyi(curve=[(3, 0.3), (Fraction(3, 2), "1/7"), ("2", 0.2)])
    assert curve.curve == (
        (Fraction(3, 2), Fraction(1, 7)),
        (Fraction(2), Fraction(1, 5)),
        (Fraction(3), Fraction(3, 10)),
    )
    assert curve == events.Renyi(curve=reversed(curve.curve))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: events.Pure(epsilon=-0.1), "epsilon"),
        (lambda: events.Approximate(epsilon=-1, delta=0), "epsilon"),
        (lambda: events.Approximate(epsilon=1, delta=-0.1), "delta"),
        (lambda: events.Approximate(epsilon=1, delta=1.1), "delta"),
        (lambda: events.ZeroConcentrated(rho=float("inf")), "rho"),
        (lambda: events.Renyi(curve=[]), "curve"),
        (lambda: events.Renyi(curve=[(1, 1)]), "curve"),
        (lambda: events.Renyi(curve=[(2, 1), (2.0, 2)]), "curve"),
        (lambda: events.Renyi(curve=[2, 1]), "curve"),
        (lambda: events.Renyi(curve=[(2, 1), 3]), "curve"),
        (lambda: events.Renyi(curve=[(2, 1, 0)]), "curve"),
        (lambda: events.Renyi(curve=7), "curve"),
        (lambda: events.Renyi(curve=[(float("inf"), 1)]), "order"),
        (lambda: events.Renyi(curve=[(2, -1)]), "epsilon"),
    ],
)
def test_bad_values_are_refused_by_name(make, name):
    with pytest.raises(ParameterError, match=f"^{name} "):
        make()
