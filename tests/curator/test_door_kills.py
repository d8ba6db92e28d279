"""Workers killed at any moment: nothing leaves the door without a durable charge, and nothing twice."""

from __future__ import annotations

import pytest

from curator.ledger.processes import run
from effort import sizes


def harass(place, **options):
    result = run("curator.door_kill_harness:main", directory=str(place), **options)
    print(result)
    assert min(result["killed"].values()) >= options["least"]
    assert sum(result["killed"].values()) >= options["kills"]
    return result


def check_paid(result):
    assert result["let out"] > 0
    assert result["without a charge"] == 0
    assert result["other than kept"] == 0
    assert result["spent in charges"] == str(result["charges"])


@pytest.mark.parametrize(("kills", "least"), sizes((20, 3), (100, 10), exhaustive=(500, 25)))
def test_nothing_leaves_the_door_unpaid(place, kills, least):
    check_paid(harass(place, order="pay first", kills=kills, least=least))


@pytest.mark.slow
def test_answering_before_the_charge_fails_the_same_harness(place):
    """The control: the harness sees what the other order loses.

    Of an answer that got out before its worker was killed, there is no charge, or only that of
    another worker with the same question, and then the answer that is kept is another one.
    """
    result = harass(place, order="answer first", kills=50, least=10)
    assert result["without a charge"] + result["other than kept"] > 0
