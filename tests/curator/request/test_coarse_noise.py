"""Noise of rounded totals: how far rounding moves neighbors, what is drawn, and how wrong it is."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import audit
from discreet.curator.request.coarse_noise import CoarseNoise, drawable_noise, rounded_sensitivity
from discreet.data import Bounds, Histogram, Statistic, Sum
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_PERSON
from discreet.privacy.sensitivity import Sensitivity
from effort import examples

AMOUNT = Sum(column="x", bounds=Bounds(0, 10))


def moved_by(l0, l1, squared, linf, **other):
    return Sensitivity(l0=l0, l1=l1, squared_l2=squared, linf=linf, **other)


def statistic(bound, measure=AMOUNT):
    return Statistic(
        measure=measure, sensitivity=bound, step=Fraction(1), center=Fraction(0), groups=bound.l0
    )


def rounded(totals, step):
    return (np.asarray(totals) + step // 2) // step


@pytest.mark.parametrize("step", [2, 4, 8])
@pytest.mark.parametrize(("rows", "groups"), [(5, 1), (3, 2), (9, 2)])
def test_rounding_moves_neighbors_no_further_than_is_said(step, rows, groups):
    """Every pair of totals that move by at most `rows` in each of some groups, from every place in a step."""
    bound = moved_by(groups, groups * rows, groups * rows**2, rows)
    said = rounded_sensitivity(bound, step)
    largest = [0, 0, 0]
    for first in product(range(step), repeat=groups):
        for change in product(range(-rows, rows + 1), repeat=groups):
            moved = np.abs(rounded(np.add(first, change), step) - rounded(first, step))
            found = (int(moved.sum()), int((moved**2).sum()), int(moved.max()))
            largest = [max(one, other) for one, other in zip(largest, found, strict=True)]
    assert largest[0] <= said.l1
    assert largest[1] <= said.squared_l2
    assert largest == [groups * ceil(rows / step), groups * ceil(rows / step) ** 2, ceil(rows / step)]
    assert said.linf == largest[2]


@settings(max_examples=examples(200))
@given(st.integers(1, 40), st.integers(1, 10**6), st.integers(0, 10**6), st.integers(1, 16), st.booleans())
def test_norms_of_rounded_totals_agree_with_each_other(l0, linf, more, bits, spread):
    l1 = linf * l0 if spread else min(linf + more, linf * l0)
    bound = moved_by(l0, l1, l1 * linf, linf)
    said = rounded_sensitivity(bound, 1 << bits)  # contradictory norms are refused
    assert said.l1 >= Fraction(l1, 1 << bits)
    assert said.squared_l2 * 4**bits >= bound.squared_l2
    assert said.l1 <= Fraction(l1, 1 << bits) + l0


def test_what_is_drawn_are_multiples_around_the_rounded_total():
    noise = CoarseNoise(noise=Laplace(sensitivity=3, scale=Fraction(1, 50), size=2), step=4, cells=2)
    drawn = noise.release(np.array([9, -10]))
    assert drawn.tolist() == [8, -8]
    assert noise.may_draw(drawn)
    assert not noise.may_draw(drawn + 1)
    assert not noise.may_draw(drawn[:1])
    assert noise.release(np.array([10, 2**62])).tolist() == [12, 2**62]


class _Alone:
    """One rounded total, as the audit sees mechanisms; the law is that of every step, for a small scale."""

    guarantee = PureDP(epsilon=Fraction(4, 3))

    def __init__(self, sensitivity):
        self.noise = CoarseNoise(
            noise=Laplace(sensitivity=sensitivity, scale=Fraction(sensitivity * 3, 4), size=1),
            step=4,
            cells=1,
        )

    def release(self, value):
        return self.noise.release(np.array([value]))

    def neighboring_inputs(self):
        return tuple((first, first + 5) for first in range(4))


def test_neighbors_before_rounding_cannot_be_told_apart():
    assert rounded_sensitivity(moved_by(1, 5, 25, 5), 4).l1 == 2
    assert audit.check_mechanism(_Alone(2), draws=20_000).passed
    assert not audit.check_mechanism(_Alone(1), draws=20_000).passed  # as if 5 were rounded to one step


@pytest.mark.parametrize("kind", ["Laplace", "Gaussian"])
def test_noise_for_less_does_not_cover(kind):
    bound = moved_by(1, 2**45, 2**90, 2**45)
    moved = rounded_sensitivity(bound, 1024)

    def made(sensitivity):
        if kind == "Laplace":
            noise = Laplace(sensitivity=sensitivity, epsilon=1, size=1)
        else:
            noise = Gaussian(sensitivity=sensitivity, rho=1, size=1)
        return CoarseNoise(noise=noise, step=1024, cells=1)

    assert made(moved).covers(statistic(bound))
    fewer = int(moved.l1) - 1
    less = moved_by(1, fewer, fewer**2, fewer)
    assert not made(less).covers(statistic(bound))
    assert not made(moved).covers(statistic(bound, Histogram(column="x", values=Bounds(0, 10))))
    other = moved_by(1, 2**45, 2**90, 2**45, neighbors=REPLACE_PERSON)
    assert not made(moved).covers(statistic(other))


def test_the_least_step_for_which_noise_can_be_drawn_is_taken():
    bound = moved_by(3, 2**44, 2**87, 2**43)

    def make(sensitivity):
        return Laplace(sensitivity=sensitivity, epsilon=Fraction(1, 8), size=3)

    found = drawable_noise(make, bound, 3)
    assert isinstance(found, CoarseNoise)
    assert found.step == 2**8  # in steps of 2^7 it is 2^40, and a hair for the rounding
    assert 2**39 <= found.noise.event.scale <= 2**40
    assert found.covers(statistic(bound))
    assert found.event.pure_epsilon == Fraction(1, 8)
    small = moved_by(1, 3, 9, 3)
    assert isinstance(drawable_noise(make, moved_by(3, 3, 3, 1), 3), Laplace)
    with pytest.raises(ParameterError, match="out of range"):
        drawable_noise(lambda sensitivity: Laplace(sensitivity=sensitivity, epsilon="1e-20"), small, 1)


@pytest.mark.statistical
def test_errors_are_those_that_are_said():
    noise = CoarseNoise(noise=Laplace(sensitivity=1, scale=40, size=20_000), step=64, cells=20_000)
    totals = np.arange(20_000) * 7 - 70_000
    errors = noise.release(totals) - totals
    assert errors.std() == pytest.approx(noise.error.variance**0.5, rel=0.05)
    for confidence in (0.5, 0.95, 0.999):
        margin = noise.error.quantile(confidence)
        missed = (np.abs(errors) > margin).mean()
        assert missed <= (1 - confidence) + 6 * np.sqrt((1 - confidence) * confidence / 20_000)
        assert (np.abs(errors) > 0.9 * margin - 64).mean() > (1 - confidence) / 2


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"step": 3}, "power of two"),
        ({"step": 1}, "step"),
        ({"step": 1 << 17}, "step"),
        ({"cells": 2}, "another number"),
        ({"noise": Laplace(sensitivity=1.0, epsilon=1, size=1)}, "another type"),
        ({"noise": "none"}, "another type"),
    ],
)
def test_what_is_no_such_noise_is_refused(wrong, match):
    right = {"noise": Laplace(sensitivity=1, epsilon=1, size=1), "step": 4, "cells": 1}
    assert CoarseNoise(**right).size == 1
    with pytest.raises(ParameterError, match=match):
        CoarseNoise(**{**right, **wrong})


def test_it_says_what_it_does():
    noise = CoarseNoise(noise=Laplace(sensitivity=1, epsilon=1, size=1), step=4, cells=1)
    assert noise.identity == {"rounded to": 4}
    assert repr(noise) == "Laplace(sensitivity=1, scale=1, size=1), of totals rounded to 4 steps"
