"""Columns of counts that a threshold showed: values, intervals, expectations."""

from __future__ import annotations

from fractions import Fraction
from unittest import mock

import numpy as np

from discreet.noise.replayed import is_private, mark_replayed
from discreet.privacy.offer import Offer
from discreet.queries import parse
from discreet.queries.noise.counted_keys import counted_request
from queries.asking.test_counted_keys import BY_TOWN, OFFER, TABLE

TABLES = {"visits": TABLE}
REQUEST = counted_request(parse(BY_TOWN, TABLES), TABLES, Offer(**OFFER), confidence=Fraction(95, 100))
PART = REQUEST.part_of(REQUEST.statistics[0].measure)
(OUTPUT,) = REQUEST.outputs


def finished(steps, confidence=Fraction(95, 100)):
    return OUTPUT.finish([mock.Mock(part=PART, steps=steps)], confidence)


def test_near_the_threshold_intervals_reach_down_and_far_above_they_do_not():
    threshold, margin = REQUEST.mechanism.threshold, int(OUTPUT.expect([PART], Fraction(95, 100), 10).margin)
    column = finished(np.array([threshold, 10_000]))
    assert column.lower.tolist() == [1, 10_000 - margin]
    assert column.upper.tolist() == [threshold + margin, 10_000 + margin]
    assert column.nonnegative() is column


def test_what_is_expected_holds_far_above_the_threshold():
    expected = OUTPUT.expect([PART], Fraction(95, 100), 10)
    assert str(REQUEST.mechanism.threshold + 2 * int(expected.margin)) in expected.note
    assert 1 < expected.standard_deviation < 2


def test_replayed_counts_stay_marked():
    column = finished(mark_replayed(np.array([50])))
    assert not is_private(column.values)
    assert not is_private(column.lower)


def test_intervals_cover_what_is_shown_in_simulations():
    """10,000 shown counts for keys near and far from the threshold; the failure rate is at most nominal."""
    threshold = REQUEST.mechanism.threshold
    for size in (threshold - 6, threshold - 2, threshold, threshold + 2, threshold + 8, 500):
        noisy = REQUEST.mechanism.release(np.full(4_000_000 if size < threshold - 3 else 200_000, size))
        shown = noisy[noisy > 0][:10_000]
        column = finished(shown)
        missed = ((column.lower > size) | (column.upper < size)).mean()
        assert len(shown) > 4_000
        assert missed <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / len(shown))
