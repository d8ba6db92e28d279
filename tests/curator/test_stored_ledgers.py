"""Ledgers of earlier versions open, keep their caps exactly, and give the answers that are in them."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction

import pytest

from curator.stored_clinics import BUDGETS, QUESTIONS, STORED, answers_of, open_clinic, readings_of
from discreet.accounting.filters import PureFilter, RenyiFilter, ZeroConcentratedFilter
from discreet.errors import BudgetExceeded
from discreet.privacy import events

EXPECTED = json.loads((STORED / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(params=BUDGETS)
def stored(request, place):
    """A copy of a stored clinic, and what it is expected to say."""
    path = place / f"{request.param}.ledger"
    shutil.copy(STORED / f"{request.param}.sqlite", path)
    clinic = open_clinic(request.param, path)
    yield request.param, clinic
    clinic.close()


def test_stored_ledgers_keep_their_caps_bit_for_bit_and_their_answers(stored):
    name, clinic = stored
    expected, found = dict(EXPECTED[name]), readings_of(clinic)
    answers, filters = expected.pop("answers"), expected.pop("filters")
    for old, new in zip(filters, found.pop("filters"), strict=True):
        assert [float(Fraction(one)) for one in new.pop("spent")] == pytest.approx(
            [float(Fraction(one)) for one in old.pop("spent")], rel=1e-12
        )
        assert new == old
    assert found.pop("remaining") == pytest.approx(expected.pop("remaining"), rel=1e-12)
    assert found == expected
    # What an offer with a delta buys may be another mechanism by now: then it is another question.
    asked = [not offer.get("delta") for _, _, offer in QUESTIONS[name]]
    assert answers_of(clinic, name) == [one for one, again in zip(answers, asked, strict=True) if again]
    assert clinic.account().charges == expected["charges"]
    clinic.ledger.verify()


def test_stored_caps_stay_single_filters(stored):
    name, clinic = stored
    kind = {"pure": PureFilter, "concentrated": ZeroConcentratedFilter}.get(name, RenyiFilter)
    assert type(clinic.account().filter_of()) is kind


def test_stored_ledgers_go_on(stored):
    """One more charge fits what is left, a larger one does not, and an amendment keeps the recorded cap."""
    _, clinic = stored
    left = clinic.account().filter_of().left
    clinic.ask("SELECT SUM(cost) AS total FROM visits", epsilon="0.01", analyst="cy")
    assert clinic.account().filter_of().left != left
    with pytest.raises(BudgetExceeded):
        clinic.ask("SELECT SUM(cost) AS total FROM visits", epsilon=7, analyst="cy")
    before = clinic.account().caps.to_body()
    clinic.amend(reason="the same once more")
    assert clinic.account().caps.to_body() == before
    assert before["renyi"] is None or len(before["renyi"]) == 2
    clinic.abandon("never closed", reason="it crashed")
    assert not clinic.account().reserved
    assert not clinic.account().filter_of().fits(events.Pure(epsilon=3))
