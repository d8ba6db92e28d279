"""Runs of Laplace steps: against exact residues, and each way of bounding them against the others."""

from __future__ import annotations

from dataclasses import replace
from math import log

import mpmath
import numpy as np
import pytest

from accounting.exact_accountant import mixed_laplace_delta
from discreet.accounting import delta, epsilon
from discreet.accounting.contour.contour import choose_line
from discreet.accounting.laplace_runs import LaplaceRun
from discreet.accounting.laplace_runs import remainder as remainder_module
from discreet.accounting.laplace_runs import run as run_module
from discreet.accounting.laplace_runs.atoms import LaplaceAtoms
from discreet.accounting.laplace_runs.remainder import LaplaceRemainder
from discreet.accounting.laplace_runs.smoothed import SmoothedLaplace
from discreet.privacy import events

MIXED = [
    [(1.0, 2), (0.3, 2)],
    [(0.5, 1), (0.25, 1)],
    [(0.1, 12), (0.07, 9)],
    [(1e-4, 10), (2.7e-4, 8)],
    [(2.0, 3), (0.5, 3), (0.3, 3)],
    [(1e-3, 9), (0.8, 2)],
]


def residues(parts, at):
    with mpmath.workdps(60 + 3 * sum(n for _, n in parts)):
        return mixed_laplace_delta([(mpmath.mpf(loss), n) for loss, n in parts], mpmath.mpf(at))


def composition(parts):
    steps = [events.Laplace(epsilon=repr(loss)) * n for loss, n in parts]
    return sum(steps[1:], steps[0])


@pytest.mark.parametrize("parts", MIXED)
@pytest.mark.parametrize("target", ["1e-12", "1e-6", "1e-4", "0.01"])
def test_steps_of_several_kinds_agree_with_the_exact_answer(parts, target):
    found = epsilon(composition(parts), delta=target)
    if found.upper == 0:
        assert residues(parts, 0) <= mpmath.mpf(target)
        return
    assert residues(parts, found.upper) <= mpmath.mpf(float(target))
    assert residues(parts, found.lower) >= mpmath.mpf(float(target))
    assert found.width <= 1e-9 * found.upper


@pytest.mark.parametrize("trial", range(25))
def test_random_steps_agree_with_the_exact_answer(trial):
    generator = np.random.default_rng()
    kinds = int(generator.integers(1, 4))
    base, most = 10 ** generator.uniform(-5, 0.5), {1: 40, 2: 12, 3: 5}[kinds]
    parts = [
        (float(base * 10 ** generator.uniform(-0.7, 0.7)), int(generator.integers(2, most)))
        for _ in range(kinds)
    ]
    at = float(sum(loss * n for loss, n in parts) * 10 ** generator.uniform(-2, 0) * 0.999)
    truth = residues(parts, at)
    if truth < 1e-40:
        return
    found = delta(composition(parts), epsilon=at)
    assert found.lower <= truth <= found.upper, (parts, at)
    if truth < 0.2:
        assert found.width <= 1e-8 * found.upper, (parts, at)
        back = epsilon(composition(parts), delta=float(truth))
        assert back.lower <= at * (1 + 1e-12), (parts, at)
        assert back.upper >= at * (1 - 1e-12), (parts, at)
        assert back.width <= 1e-9 * back.upper, (parts, at)


WAYS = [
    [(0.1, 40)],
    [(0.5, 6), (0.31, 7)],
    [(1e-3, 500), (1.7e-3, 300)],
    [(0.01, 40), (0.017, 40), (0.023, 40)],
]


def every_way(parts, line):
    yield LaplaceRemainder(parts, line, LaplaceAtoms(parts), 1e-10)
    yield LaplaceRemainder(parts, line, None, 1e-10)
    yield SmoothedLaplace(parts, line, 1e-10)


@pytest.mark.few(5)
@pytest.mark.parametrize("parts", WAYS)
@pytest.mark.parametrize("trial", range(4))
def test_all_ways_hold_the_same_delta_on_any_line(parts, trial):
    """Line, period and smoothing are free choices: the bounds of all ways overlap for all of them."""
    generator = np.random.default_rng()
    steps = LaplaceRun(parts)._steps
    target = float(10 ** generator.uniform(-9, -2))
    straight = choose_line(steps, log(target), 1e-9)
    order = straight.order * generator.uniform(0.7, 1.5)
    bent = replace(
        straight,
        order=order,
        second=order * generator.uniform(1.2, 6),
        period=straight.period * generator.uniform(0.6, 2),
        smoothing=straight.smoothing * generator.uniform(0.5, 20),
    )
    at = max(straight.guess - generator.uniform(0, 1) / straight.order, 0.0)
    bounds = [
        (way.lower(at)[0], way.upper(at)[0]) for line in (straight, bent) for way in every_way(parts, line)
    ]
    lower, upper = max(low for low, _ in bounds), min(high for _, high in bounds)
    assert lower <= upper, (parts, at)
    assert upper - lower <= 1e-6 * upper


def test_without_images_the_lower_bound_would_be_wrong(monkeypatch):
    parts = [(0.4, 5)]
    truth = residues(parts, 0.9)
    line = choose_line(LaplaceRun(parts)._steps, log(float(truth)), 1e-9, 0.9)
    short = LaplaceRemainder(parts, replace(line, period=line.period / 8), LaplaceAtoms(parts), 1e-10)
    assert short.lower(0.9)[0] <= truth <= short.upper(0.9)[0]
    monkeypatch.setattr(LaplaceRemainder, "_images", lambda self, epsilon, smoothing: 0.0)
    assert short.lower(0.9)[0] > truth


def test_what_the_integral_does_not_hold_is_the_sum_over_atoms():
    parts = [(0.4, 5)]
    truth = residues(parts, 0.9)
    line = choose_line(LaplaceRun(parts)._steps, log(float(truth)), 1e-9, 0.9)
    atoms = LaplaceAtoms(parts)
    assert atoms.upper(0.9)[0] < 0.9 * truth
    without = LaplaceRemainder(parts, line, None, 1e-10)
    assert without.lower(0.9)[0] <= truth - atoms.lower(0.9)[0]
    assert without.upper(0.9)[0] >= truth


def test_nodes_left_out_are_charged(monkeypatch):
    """With few nodes the sum alone is off; the bound on what is left out covers the difference."""
    parts = [(1.0, 4)]
    truth = residues(parts, 1.5)
    line = choose_line(LaplaceRun(parts)._steps, log(float(truth)), 1e-9, 1.5)
    monkeypatch.setattr(remainder_module, "_MOST_NODES", 40)
    few = LaplaceRemainder(parts, line, LaplaceAtoms(parts), 1e-14)
    assert few.lower(1.5)[0] <= truth <= few.upper(1.5)[0]
    few._tail = 0.0
    assert not few.lower(1.5)[0] <= truth <= few.upper(1.5)[0]


def test_blocks_left_out_are_charged():
    """With a coarse choice of blocks the smoothed sum alone is off; the bound on them covers it."""
    parts = [(0.5, 6), (0.31, 7)]
    truth = residues(parts, 2.0)
    line = choose_line(LaplaceRun(parts)._steps, log(float(truth)), 1e-9, 2.0)
    coarse = SmoothedLaplace(parts, line, 30.0)
    assert coarse.lower(2.0)[0] <= truth <= coarse.upper(2.0)[0]
    coarse._tail = 0.0
    assert not coarse.lower(2.0)[0] <= truth <= coarse.upper(2.0)[0]


@pytest.mark.parametrize(("loss", "times"), [(1e-3, 10**7), (4e-5, 3_469_149), (1e-6, 10**6)])
def test_many_steps_keep_their_digits(loss, times):
    """The interval of many steps is far narrower than one unit for each step would allow."""
    found = epsilon(events.Laplace(epsilon=repr(loss)) * times, delta="1e-6")
    assert found.width <= 1e-10 * found.upper


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "parts",
    [
        [(0.001, 10_000), (0.0013, 10_000)],
        [(0.01 * 1.13**i, 10) for i in range(10)],
        [(0.01 * 1.003**i, 1) for i in range(100)],
    ],
)
@pytest.mark.parametrize("target", [1e-9, 0.01])
def test_where_atoms_are_too_many_the_interval_is_still_narrow(parts, target):
    found = epsilon(composition(parts), delta=target)
    assert found.width <= 1e-9 * found.upper


def test_without_the_smoothed_integral_the_answer_is_the_same(monkeypatch):
    run = composition([(0.01, 60), (0.017, 60)])
    exact = epsilon(run, delta=1e-6)
    monkeypatch.setattr(run_module, "_MOST_ATOMS", 1)
    smoothed = epsilon(run, delta=1e-6)
    assert smoothed.lower <= exact.upper
    assert smoothed.upper >= exact.lower
    assert smoothed.width <= 1e-9 * smoothed.upper
    assert smoothed.width > exact.width


def test_extreme_runs_end():
    assert epsilon(events.Laplace(epsilon=500) * 3, delta=1e-6).upper == pytest.approx(1500, rel=1e-3)
    assert epsilon(events.Laplace(epsilon="1e-9") * 10**12, delta=1e-6).upper == pytest.approx(
        0.00272, rel=0.01
    )
    assert epsilon(events.Laplace(epsilon="0.1") * 50, delta="1e-100").upper <= 5.0
    assert delta(events.Laplace(epsilon=1) * 20, epsilon=19.9999).upper <= 1e-9
    assert delta(events.Laplace(epsilon=1) * 2, epsilon=2).lower == 0
