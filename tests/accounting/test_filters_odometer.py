"""The odometer: totals, and a reading that never promises."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.accounting.filters import Odometer, epsilon_above
from discreet.errors import ParameterError
from discreet.privacy import ADD_REMOVE_PERSON, REPLACE_ROW, events


def test_an_odometer_reads_and_never_promises():
    odometer = (
        Odometer().add(events.Laplace(epsilon=0.1) * 3).add(events.Approximate(epsilon=0.5, delta="1e-7"))
    )
    assert (odometer.epsilon, odometer.delta) == (Fraction(4, 5), Fraction(1, 10**7))
    assert odometer.rho == Fraction(3, 200) + Fraction(1, 8)
    assert odometer.read("1e-7").epsilon == 0.8
    assert odometer.read(0).epsilon == math.inf
    assert "not a guarantee" in odometer.read("1e-6").label
    assert "not a guarantee" in str(odometer.read("1e-6"))
    assert not any("guarantee" in name for name in dir(odometer))
    many = Odometer().add(events.Laplace(epsilon=0.01) * 10_000)
    assert many.epsilon == 100
    assert many.read("1e-6").epsilon == epsilon_above(Fraction(1, 2), Fraction(1, 10**6)) < 6
    normal = many.add(events.Gaussian(noise_multiplier=10))
    assert normal.epsilon is None
    shared = normal.add(events.Approximate(epsilon=0, delta="9e-7"))
    assert shared.read("1e-6").epsilon == epsilon_above(normal.rho, Fraction(1, 10**7))
    assert normal.read("1e-6").epsilon == epsilon_above(Fraction(101, 200), Fraction(1, 10**6))
    assert (
        normal.read(0).epsilon
        == many.add(events.Renyi(curve=[(2, 1)])).add(events.Gaussian(noise_multiplier=1)).read(0.1).epsilon
        == math.inf
    )


def test_an_odometer_counts_the_deltas_of_samples():
    sample = events.PoissonSampled(events.Approximate(epsilon=1, delta="1e-6"), rate="1/10")
    odometer = Odometer().add(sample * 5)
    assert odometer.delta == Fraction(5, 10**7)
    assert odometer.epsilon is not None
    assert float(odometer.epsilon) == pytest.approx(5 * math.log1p(math.expm1(1) / 10))
    assert odometer.read("4e-7").epsilon == math.inf
    assert odometer.read("1e-6").epsilon <= float(odometer.epsilon)
    drawn = events.SampledWithReplacement(
        events.Approximate(epsilon=1, delta="1e-6", neighbors=REPLACE_ROW), draws=2, population=9
    )
    assert Odometer(neighbors=REPLACE_ROW).add(drawn).read(0.5).epsilon == math.inf


@pytest.mark.parametrize("relation", [None, "add-remove person", ADD_REMOVE_PERSON.change])
def test_an_odometer_needs_a_relation(relation):
    with pytest.raises(ParameterError, match="neighbors"):
        Odometer(neighbors=relation)
