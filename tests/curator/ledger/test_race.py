"""Exactly what was granted is spent, however many processes ask at once."""

from __future__ import annotations

import pytest

from curator.ledger.processes import run

PROCESSES = 16


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("grants", [1000])
def test_sixteen_processes_get_exactly_what_there_is(backend, place, grants):
    result = run(
        "curator.ledger.race_harness:through_the_ledger",
        location=backend.location,
        name=backend.name,
        processes=PROCESSES,
        grants=grants,
        directory=str(place),
    )
    print(result)
    assert sum(result["got"]) == result["entries"] == result["spent"] == grants


@pytest.mark.slow
@pytest.mark.few(1)
def test_reading_checking_and_writing_overspends(backend, place):
    """The control: the same race without one exclusive transaction."""
    result = run(
        "curator.ledger.race_harness:read_check_write",
        location=backend.location,
        name=backend.name,
        processes=PROCESSES,
        grants=100,
        directory=str(place),
    )
    print(result)
    assert sum(result["got"]) > 100
