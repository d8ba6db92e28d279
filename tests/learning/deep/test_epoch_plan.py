"""The public numbers of a run with correlated noise."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from accounting.formulas.test_binomial_tail import exact_tail
from discreet.accounting import epsilon
from discreet.errors import ParameterError
from discreet.learning.deep.clipping import AdaptiveClipping, FlatClipping
from discreet.learning.deep.epoch_plan import EpochPlan
from discreet.privacy.events import Approximate, Gaussian


def plan(**options):
    stated = {
        "epochs": 3,
        "steps_per_epoch": 16,
        "population": 1000,
        "epsilon": 2,
        "delta": 1e-5,
        "size": 100,
        "clipping": FlatClipping(1.0),
    }
    return EpochPlan(**(stated | options))


@pytest.mark.parametrize(("epochs", "target"), [(1, 0.5), (3, 2), (20, 8)])
def test_the_run_keeps_its_promise_and_hardly_more(epochs, target):
    made = plan(epochs=epochs, epsilon=target)
    assert 0.999 * target < epsilon(made.event, delta=1e-5).upper <= target
    assert made.overflow == made.delta / (2**10 * epochs)
    left = made.delta - epochs * made.overflow
    simple = epsilon(Gaussian(noise_multiplier=made.noise_multiplier) * epochs, delta=left).upper
    assert epsilon(made.event, delta=1e-5).upper == pytest.approx(simple, rel=1e-6)


def test_places_are_enough_for_a_step_but_for_the_chance_that_is_charged():
    made = plan(examples=2)
    assert exact_tail(999, made.places // 2, Fraction(1, 16)) <= made.overflow
    assert exact_tail(999, made.places // 2 - 1, Fraction(1, 16)) > made.overflow
    assert str(made.overflow) == made.to_object()["overflow"]


def test_an_epoch_of_one_step_has_a_place_for_everybody():
    made = plan(steps_per_epoch=1)
    assert (made.places, made.overflow) == (1000, 0)
    assert made.event_of_charge == made._noise


def test_the_sensitivity_is_that_of_all_steps_that_a_part_reaches():
    one, wide = plan(band=1), plan(band=4)
    assert one.squared_sensitivity == (2**24 + 16 + 11) ** 2 * 256**2
    assert wide.squared_sensitivity == (2**24 + 16 + 11) ** 2 * (256**2 + 128**2 + 96**2 + 80**2)
    assert wide.variance / wide.squared_sensitivity == pytest.approx(
        one.variance / one.squared_sensitivity, rel=1e-12
    )
    (failure, _), (noise, _) = wide.event_of_charge.parts
    assert noise.squared_mu == Fraction(wide.squared_sensitivity, wide.variance)
    assert noise.size == 400
    assert failure == Approximate(epsilon=0, delta=wide.overflow)


def test_numbers_of_steps_and_people():
    made = plan()
    assert (made.steps, made.steps_per_charge, made.rate, made.batch) == (48, 16, Fraction(1, 16), 62.5)
    assert made.drawn == 100
    assert made.gain > 2
    assert plan(band=1).gain == 1


def test_a_band_wider_than_an_epoch_is_refused():
    assert len(plan(band=16).coefficients) == 16
    with pytest.raises(ParameterError, match="band"):
        plan(band=17)
    assert len(plan(steps_per_epoch=5).coefficients) == 4


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"epochs": 0}, "epochs"),
        ({"steps_per_epoch": 0}, "steps"),
        ({"population": 2**28}, "population"),
        ({"epsilon": 1e-9}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"clipping": AdaptiveClipping()}, "clip"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(wrong, name):
    with pytest.raises(ParameterError) as caught:
        plan(**wrong)
    assert caught.value.parameter == name


def test_a_plan_is_plain_numbers():
    assert json.loads(json.dumps(plan().to_object())) == plan().to_object()
    assert plan().to_object() != plan(band=2).to_object()


def test_an_epsilon_beyond_all_noise_is_refused_by_what_it_needs():
    with pytest.raises(ParameterError, match=r"needs more noise than 10000 times.*at least"):
        plan(epsilon=1e-9)
    with pytest.raises(ParameterError, match=r"needs hardly any noise.*at most"):
        plan(epsilon=10**12)
