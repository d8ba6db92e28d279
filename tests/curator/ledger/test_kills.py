"""Workers killed at any moment: no answer without a durable charge, and no charge with two answers."""

from __future__ import annotations

import pytest

from curator.ledger.processes import run


def harass(backend, place, **options):
    result = run(
        "curator.ledger.kill_harness:main",
        location=backend.location,
        name=backend.name,
        directory=str(place),
        **options,
    )
    print(result)
    assert min(result["killed"].values()) >= options["least"]
    assert sum(result["killed"].values()) >= options["kills"]
    return result


def check_paid(result):
    assert result["let out"] > 0
    assert result["without a charge"] == 0
    assert result["other than kept"] == 0
    assert result["not kept"] == 0
    assert result["charged twice"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "least"), [(60, 5), pytest.param(500, 25, marks=pytest.mark.exhaustive)])
def test_no_answer_gets_out_unpaid(backend, place, kills, least):
    check_paid(harass(backend, place, order="pay first", kills=kills, least=least))


@pytest.mark.slow
def test_an_anchor_is_never_ahead_of_its_ledger(backend, place):
    check_paid(harass(backend, place, order="pay first", kills=50, least=5, anchor=True))


@pytest.mark.slow
def test_answering_first_lets_unpaid_answers_out(backend, place):
    """The control: the harness sees what the other order loses."""
    result = harass(backend, place, order="answer first", kills=60, least=10)
    assert result["without a charge"] > 0
    assert result["other than kept"] > 0
