from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.filters import epsilon_above
from discreet.errors import ParameterError
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP
from discreet.privacy.offer import Offer
from discreet.synthesis.measuring.stated_rho import StatedRho, rho_bought
from effort import examples


@settings(max_examples=examples(40))
@given(st.floats(1e-3, 50), st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3]))
def test_the_largest_rho_keeps_the_promise_and_hardly_more_would(epsilon, delta):
    wanted, failure = Fraction(epsilon), Fraction(delta)
    rho = rho_bought(wanted, failure)
    assert epsilon_above(rho, failure) <= epsilon
    assert epsilon_above(rho * Fraction(1001, 1000), failure) > epsilon


def test_offers_become_rho():
    assert StatedRho.of(Offer(rho=0.5)).guarantee == ZeroConcentratedDP(rho=Fraction(1, 2))
    bought = StatedRho.of(Offer(epsilon=1, delta=1e-9))
    assert isinstance(bought.guarantee, ApproximateDP)
    assert 0.0149 < bought.rho < 0.0150
    with pytest.raises(ParameterError, match="normal noise"):
        StatedRho.of(Offer(epsilon=1))
