"""Plans whose noise has one law: what they share on the processor and on an accelerator."""

from __future__ import annotations

from math import sqrt

import pytest

from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.clipping import FlatClipping
from discreet.learning.deep.one_word_plan import BeyondOneWord, OneWordPlan
from discreet.learning.deep.processor_plan import ProcessorPlan

STATED = {"batch": 20, "population": 1000, "steps": 50, "epsilon": 1, "delta": 1e-5, "size": 10**6}


def test_the_sensitivity_is_what_the_noise_is_for():
    plans = [kind(**STATED, clipping=FlatClipping(1.0)) for kind in (DevicePlan, ProcessorPlan)]
    for plan in plans:
        assert isinstance(plan, OneWordPlan)
        assert sqrt(plan.squared_sensitivity) == pytest.approx(2**23 / plan.noise_multiplier, rel=1e-4)
    assert plans[0].event == plans[1].event


def test_rounding_for_many_numbers_may_be_a_smaller_part_on_the_processor():
    stated = STATED | {"epsilon": 0.4, "batch": 1000, "size": 10**8}
    assert DevicePlan(**stated, clipping=FlatClipping(1.0)).size == 10**8
    with pytest.raises(BeyondOneWord, match="rounding"):
        ProcessorPlan(**stated, clipping=FlatClipping(1.0))
