"""Noises of sums over windows: which of them are left, and margins that cover them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.data import Limits, col, count
from discreet.mechanisms import Laplace
from discreet.queries import Offer
from discreet.queries.outputs import frame_noises
from discreet.queries.outputs.frame_noises import (
    MOST_NOISES,
    FrameCells,
    FramedTerm,
    few_enough,
    frame_margins,
    margin_of_noises,
)
from queries.spread_data import request_for

REQUEST = request_for({"n": count(), "m": col("age").sum()}, Offer(epsilon=1), cells=6, limits=Limits(rows=1))
ROWS, VALUES = REQUEST.plan.measures
LAW = Laplace(sensitivity=1, epsilon=1).error
WIDE = Laplace(sensitivity=1, epsilon=Fraction(1, 3)).error


@pytest.fixture(scope="module")
def parts():
    return {part.measure: part for part in REQUEST.parts}


def frames(*ends, divided=False, order=range(6)):
    start, end = (np.array(side) for side in zip(*ends, strict=True))
    return FrameCells(order=np.array(order), start=start, end=end, divided=divided)


RUNNING = frames(*((0, k + 1) for k in range(6)))
EARLIER = frames(*((0, k) for k in range(6)))
AROUND = frames(*((max(k - 1, 0), min(k + 2, 6)) for k in range(6)), divided=True, order=[3, 1, 0, 5, 4, 2])


def weights_of(term, measure):
    """The factor of every cell in every row, as a matrix, cell by cell."""
    found = np.zeros((6, 6), object)
    for row in range(6):
        cells = [row] if term.places is None else [int(term.places[row])]
        if term.frames is not None:
            cells = term.frames.order[term.frames.start[row] : term.frames.end[row]].tolist()
        for cell in cells:
            if cell >= 0:
                share = len(cells) if term.frames is not None and term.frames.divided else 1
                found[row, cell] += term.factors.get(measure, 0) / Fraction(share)
    return found


def test_noises_of_frames_are_those_of_a_matrix(parts):
    terms = [
        FramedTerm(factors={ROWS: Fraction(2), VALUES: Fraction(-1, 3)}, frames=RUNNING),
        FramedTerm(factors={ROWS: Fraction(-2)}, frames=AROUND),
        FramedTerm(factors={VALUES: Fraction(1, 3)}, places=np.array([-1, 0, 1, 2, 3, 4])),
    ]
    for row in range(6):
        expected = {}
        for measure in (ROWS, VALUES):
            total = sum(weights_of(term, measure) for term in terms)[row]
            for factor in total:
                if factor:
                    key = (parts[measure].mechanism.error, abs(Fraction(factor)))
                    expected[key] = expected.get(key, 0) + 1
        found = frame_noises._noises(terms, parts, row, 6)
        assert {(law, factor): many for law, factor, many in found} == expected


def test_a_running_sum_less_the_one_before_has_one_noise(parts):
    terms = [
        FramedTerm(factors={ROWS: Fraction(1)}, frames=RUNNING),
        FramedTerm(factors={ROWS: Fraction(-1)}, frames=EARLIER),
    ]
    law = parts[ROWS].mechanism.error
    margins = frame_margins(terms, parts, 6, Fraction(19, 20))
    assert margins.tolist() == [law.quantile(0.95)] * 6
    again = [terms[0], FramedTerm(factors={ROWS: Fraction(-1)}, frames=RUNNING)]
    assert not frame_margins(again, parts, 6, Fraction(19, 20)).any()


def test_measures_of_one_law_are_counted_together(parts):
    alike = {ROWS: parts[ROWS], VALUES: parts[ROWS]}
    terms = [FramedTerm(factors={ROWS: Fraction(1), VALUES: Fraction(-1)}, frames=RUNNING)]
    assert frame_noises._noises(terms, alike, 2, 6) == ((parts[ROWS].mechanism.error, Fraction(1), 6),)


def tail(noises, threshold):
    """P(abs(combination) > threshold), by adding up all points of each noise in turn."""
    chances = {Fraction(0): 1.0}
    for law, factor, many in noises:
        most = next(k for k in range(1, 1000) if law.tail_in_steps(k) < 1e-9)
        side = [(law.tail_in_steps(k - 1) - law.tail_in_steps(k)) / 2 for k in range(1, most + 1)]
        single = {0: 1 - law.tail_in_steps(0)}
        single |= {sign * (k + 1): one for k, one in enumerate(side) for sign in (-1, 1)}
        for _ in range(many):
            added: dict[Fraction, float] = {}
            for (total, one), (value, other) in product(chances.items(), single.items()):
                place = total + factor * value
                added[place] = added.get(place, 0.0) + one * other
            chances = {place: one for place, one in added.items() if one > 1e-15}
    return sum(one for place, one in chances.items() if abs(place) > threshold)


@pytest.mark.parametrize(
    "noises",
    [
        [(LAW, Fraction(1), 1)],
        [(LAW, Fraction(1, 3), 2), (WIDE, Fraction(2, 3), 1)],
        [(LAW, Fraction(1), MOST_NOISES + 4)],
        [(LAW, Fraction(1), MOST_NOISES), (LAW, Fraction(2), 1)],
    ],
    ids=["one", "few", "many", "two sums"],
)
def test_margins_of_frames_cover_by_enumeration(noises):
    margin = margin_of_noises(noises, Fraction(19, 20))
    assert tail(noises, margin) <= 0.05
    assert tail(noises, margin * Fraction(1, 2) - 1) > 0.05


def test_a_forgotten_cell_is_noticed():
    """The control: a sum of twenty noises with the margin of ten does not cover."""
    noises = [(LAW, Fraction(1), 20)]
    assert tail(noises, margin_of_noises([(LAW, Fraction(1), 10)], Fraction(19, 20))) > 0.05
    assert tail(noises, margin_of_noises(noises, Fraction(19, 20))) <= 0.05
    assert margin_of_noises([], Fraction(19, 20)) == 0


def test_long_answers_are_left_to_interval_arithmetic():
    assert few_enough(4096)
    assert not few_enough(4097)


def test_large_factors_are_counted_with_integers_of_any_size(parts):
    large = Fraction(10**30)
    terms = [
        FramedTerm(factors={ROWS: large}, frames=RUNNING),
        FramedTerm(factors={ROWS: -large + Fraction(1, 7)}, frames=EARLIER),
    ]
    found = frame_noises._noises(terms, parts, 1, 6)
    assert {factor for _, factor, _ in found} == {large, Fraction(1, 7)}
