"""A release, number for number: nearest integers, noise, and the scale, in one thread or several."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from discreet.learning.deep.clipping import FlatClipping
from discreet.learning.deep.plan import TrainingPlan
from discreet.learning.deep.processor_plan import ProcessorPlan
from discreet.learning.deep.released_parts import MOST_NUMBERS, noisy_parts, side_by_side
from discreet.noise import current, replay
from discreet.noise.layered_gaussian import LayeredDraws
from discreet.noise.one_word_draws import one_word_parts

STATED = {"batch": 20, "population": 100, "steps": 5, "epsilon": 2, "delta": 1e-5, "size": 200_000}


def plan_of(kind, **other):
    return kind(**{**STATED, **other}, clipping=FlatClipping(1.0))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_noise_of_one_word_is_added_to_the_nearest_integers(kind):
    sums = np.array([0.4, 0.6, -2.5, 1e6 + 0.25, 3e9, -3e9, 7e30], kind)
    with replay(4):
        (_, part), (start, _) = noisy_parts(plan_of(ProcessorPlan), current())
    with replay(4):
        (_, draws), _ = one_word_parts(200_000, current())
    noise = draws.next(7).astype(np.int64)
    steps = np.rint(sums).astype(np.float64).clip(-(2**30), 2**30).astype(np.int64)
    out = np.empty(7, np.float32)
    part.release(sums, 2.0**-20, out)
    assert start == 100_000
    assert np.array_equal(sums, (steps + noise).astype(kind))  # nothing that is private stays behind
    assert np.array_equal(out, (sums * kind(2.0**-20)).astype(np.float32))
    assert part.next() == draws.next(1)[0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_many_examples_that_agree_are_not_cut_off(kind):
    """As many as a step has places for may be longer together than 32 bits are."""
    plan = plan_of(ProcessorPlan, batch=1000, population=10_000)
    most = float(kind(plan.places * plan.bound_in_steps))
    assert most > 2**32
    sums = np.array([most, -most, 0.4, 2.0**31], kind)
    with replay(4):
        (_, part), _ = noisy_parts(plan, current())
    with replay(4):
        (_, draws), _ = one_word_parts(plan.drawn, current())
    steps = np.rint(sums).astype(np.int64) + draws.next(4)
    out = np.empty(4, np.float32)
    part.release(sums, 0.5, out)
    assert np.array_equal(sums, steps.astype(kind))
    assert np.array_equal(out, (sums * 0.5).astype(np.float32))


def test_noise_of_any_deviation_is_that_of_layers():
    plan = plan_of(TrainingPlan)
    with replay(4):
        ((start, part),) = noisy_parts(plan, current())
    with replay(4):
        draws = LayeredDraws(plan.variance, plan.drawn, current())
    sums, out = np.array([0.4, 2.0**40, -7.0]), np.empty(3)
    expected = np.rint(sums) + draws.next(3)
    part.release(sums, 0.5, out)
    assert start == 0
    assert np.array_equal(out, expected / 2)
    assert part.next() == draws.next(1)[0]
    assert MOST_NUMBERS <= 2**16


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_all_works_are_done_once_and_what_fails_is_raised(threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        done = []
        side_by_side([lambda place=place: done.append(place) for place in range(5)])
        assert sorted(done) == [0, 1, 2, 3, 4]
        with pytest.raises(ZeroDivisionError):
            side_by_side([lambda: None, lambda: 1 // 0])
    finally:
        torch.set_num_threads(before)
