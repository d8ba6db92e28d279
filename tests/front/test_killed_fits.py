"""Fits that are killed at any moment: rows that were read are paid, and the same fit is answered later."""

from __future__ import annotations

import pytest

from curator.ledger.processes import run

FAULTS = (
    "read before the charge",
    "read without a charge",
    "charged twice",
    "charged again",
    "other than kept",
)


def harassed(place, **options):
    result = run("front.killed_fits:main", directory=str(place), **options)
    print(result)
    assert min(result["killed"].values()) >= options["least"]
    assert result["read"] > 0
    return result


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "least"), [(10, 2), pytest.param(50, 8, marks=pytest.mark.exhaustive)])
def test_rows_that_are_read_are_paid_once_and_answered_for_no_more(place, kills, least):
    result = harassed(place, order="pay first", kills=kills, least=least)
    assert result["let out"] > 0
    assert [result[fault] for fault in FAULTS] == [0] * len(FAULTS)


@pytest.mark.slow
def test_reading_before_the_charge_fails_the_same_harness(place):
    """The control: the harness sees that rows were read which nobody had paid."""
    result = harassed(place, order="read first", kills=2, least=0)
    assert result["read before the charge"] > 0
