"""The public numbers of a run with correlated noise."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from discreet.accounting import epsilon
from discreet.errors import ParameterError
from discreet.learning.deep.clipping import AdaptiveClipping, FlatClipping
from discreet.learning.deep.epoch_plan import EpochPlan
from discreet.privacy.events import Gaussian


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
    simple = epsilon(Gaussian(noise_multiplier=made.noise_multiplier) * epochs, delta=1e-5).upper
    assert epsilon(made.event, delta=1e-5).upper == pytest.approx(simple, rel=1e-6)


def test_the_sensitivity_is_that_of_all_steps_that_a_part_reaches():
    one, wide = plan(band=1), plan(band=4)
    assert one.squared_sensitivity == (2**24 + 16 + 11) ** 2 * 256**2
    assert wide.squared_sensitivity == (2**24 + 16 + 11) ** 2 * (256**2 + 128**2 + 96**2 + 80**2)
    assert wide.variance / wide.squared_sensitivity == pytest.approx(
        one.variance / one.squared_sensitivity, rel=1e-12
    )
    assert wide.event_of_charge.squared_mu == Fraction(wide.squared_sensitivity, wide.variance)
    assert wide.event_of_charge.size == 400


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
