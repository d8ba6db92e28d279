from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.noise import powers
from discreet.noise.powers import RELATIVE_ERROR, Powers, _nearest_float
from effort import examples
from noise.oracle import exp_minus, high

RATES = [
    Fraction(1, 10**25),
    Fraction(1, 2**63),
    Fraction(1, 10**9),
    Fraction(1, 777),
    Fraction(1),
    Fraction(1361, 2),
    Fraction(700),
    Fraction(2**1000 + 1, 2**1007 + 9),
]


def check(rate: Fraction, exponents: np.ndarray) -> float:
    approximate = Powers(rate).approximate(exponents)
    worst = 0.0
    for k, power in zip(exponents.tolist(), approximate.tolist(), strict=True):
        exact = exp_minus(k * rate)
        assert 0 <= power <= 1
        if exact > high.ldexp(1, -900):
            worst = max(worst, float(abs(power - exact) / exact))
        else:
            assert abs(power - exact) <= high.ldexp(1, -900)
    assert worst < RELATIVE_ERROR
    return worst


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{float(rate):g}")
def test_powers_are_as_accurate_as_proven(rate):
    generator = np.random.default_rng(11)
    reach = min(2**63 - 1, int(800 / rate))
    spread = (generator.random(600) * reach).astype(np.int64)
    short = generator.integers(0, 2**62, 300) >> generator.integers(0, 62, 300)
    edges = [0, 1, 255, 256, 65535, 65536, 2**62, 2**63 - 1]
    edges += [(1 << (8 * place)) - 1 for place in range(1, 8)]
    worst = check(rate, np.concatenate([spread, short, edges]).astype(np.int64))
    assert worst < RELATIVE_ERROR / 2, "the proof gives 2^-49"


@given(
    rate=st.fractions(Fraction(1, 10**15), 100, max_denominator=10**15),
    exponents=st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=20),
)
@settings(deadline=None, max_examples=examples(25))
def test_powers_of_any_rate(rate, exponents):
    small = [k % (1 + int(650 / rate)) for k in exponents]
    check(rate, np.array(exponents + small))


def test_a_zero_exponent_is_exactly_one():
    assert Powers(Fraction(1, 3)).approximate(np.zeros(3, np.int64)).tolist() == [1.0] * 3


def test_a_strided_array_is_read_rightly():
    exponents = np.arange(40)[::3]
    every = Powers(Fraction(1, 7)).approximate(exponents)
    one_by_one = [float(Powers(Fraction(1, 7)).approximate(np.array([k]))[0]) for k in exponents]
    assert every.tolist() == one_by_one


@given(x=st.fractions(0, 750, max_denominator=10**9))
@settings(deadline=None)
def test_entries_are_the_nearest_floats(x):
    entry = _nearest_float(x)
    exact = exp_minus(x)
    if x > 700:
        assert entry == 0.0
        assert exact < high.ldexp(1, -1000)
    else:
        assert abs(high.mpf(entry) - exact) <= high.mpf(float(np.spacing(entry))) / 2 * (
            1 + high.ldexp(1, -50)
        )


def test_entries_are_the_nearest_floats_for_many_arguments():
    generator = np.random.default_rng(3)
    for x in (generator.random(600) * 600).tolist():
        exact = exp_minus(Fraction(x))
        assert abs(high.mpf(_nearest_float(Fraction(x))) - exact) <= exact * high.ldexp(1, -53)


def test_an_entry_that_is_off_is_caught(monkeypatch):
    right = powers._nearest_float

    def wrong(x: Fraction) -> float:
        return right(x) * (1 + 2.0**-47)

    monkeypatch.setattr(powers, "_nearest_float", wrong)
    powers._digit_tables.cache_clear()
    try:
        with pytest.raises(AssertionError):
            test_powers_are_as_accurate_as_proven(Fraction(1, 777))
    finally:
        powers._digit_tables.cache_clear()
