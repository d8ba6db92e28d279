"""Local reports by enumeration of all reports."""

from __future__ import annotations

from itertools import product
from math import log1p

import numpy as np
import pytest

from accounting.loss.profiles import assert_between, of_masses
from discreet.accounting.loss.pair import pair_of
from discreet.privacy import events


@pytest.mark.parametrize(("truth", "categories"), [("3/4", 2), ("0.5", 3), ("0.9", 10), ("0.101", 10)])
def test_randomized_response_is_its_enumeration(truth, categories):
    pair = pair_of(events.RandomizedResponse(truth=truth, categories=categories))
    tell = float(eval(truth))  # noqa: S307 - a literal above
    laws = np.full((2, categories), (1 - tell) / (categories - 1))
    laws[0, 0] = laws[1, 1] = tell

    def exact(direction, epsilon):
        return of_masses(laws[direction], laws[1 - direction], epsilon)

    assert_between(pair, exact, (-0.5, 0.0, 0.3, 2.0), width=1e-12)
    assert pair.exact


@pytest.mark.parametrize(("keep", "flip"), [(0.5, 0.25), (0.75, 0.25), (0.9, 0.01)])
def test_unary_encoding_is_its_enumeration(keep, flip):
    size = 4
    pair = pair_of(events.UnaryEncoding(keep=keep, flip=flip, size=size))

    def law(value):
        chances = [keep if bit == value else flip for bit in range(size)]
        return [
            np.prod([c if bit else 1 - c for bit, c in zip(report, chances, strict=True)])
            for report in product((0, 1), repeat=size)
        ]

    laws = law(0), law(1)
    assert_between(
        pair, lambda d, e: of_masses(laws[d], laws[1 - d], e), (-0.5, 0.0, 0.3, 1.0, 2.0), width=1e-11
    )


def test_reports_that_are_nearly_blind_keep_their_digits():
    pair = pair_of(events.RandomizedResponse(truth="0.5000000000001"))
    assert pair.law(0, "upper", 3).largest == pytest.approx(log1p(2e-13 / 0.4999999999999), rel=1e-14)
