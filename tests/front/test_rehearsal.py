"""Rehearsals: previews as from the curator itself, no ledger, no answer."""

from __future__ import annotations

import pytest

from discreet.errors import BudgetExceeded, ParameterError, RequestRefused
from discreet.front.declaring.declaration import read_declaration
from discreet.front.opening import open_file
from discreet.front.rehearsal import rehearse
from front.declared_clinic import write_clinic

BY_CITY = "SELECT city, COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits GROUP BY city"


@pytest.fixture
def declared(tmp_path):
    return read_declaration(write_clinic(tmp_path))


def test_it_previews_like_the_curator(declared, tmp_path):
    with rehearse(declared) as rehearsal:
        preview, explained = rehearsal.preview(BY_CITY, epsilon=1), rehearsal.explain(BY_CITY, rho="0.1")
    assert not (tmp_path / "clinic.ledger").exists()
    clinic = open_file(tmp_path / "clinic.toml")
    assert clinic.preview(BY_CITY, epsilon=1) == preview
    assert clinic.explain(BY_CITY, rho="0.1") == explained


def test_it_answers_nothing(declared):
    with rehearse(declared) as rehearsal:
        request = rehearsal.request(BY_CITY, epsilon=1)
        for asking in (rehearsal.ask, rehearsal.sql):
            with pytest.raises(RequestRefused):
                asking(BY_CITY, epsilon=1)
        with pytest.raises(RequestRefused):
            rehearsal.answer(request)
        with pytest.raises(RequestRefused):
            rehearsal.permit("train", epsilon=1)
        unknown = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
        with pytest.raises(RequestRefused, match="keys are paid for in the ledger"):
            rehearsal.ask(unknown, epsilon=1, delta=1e-7)


def test_it_knows_what_would_never_fit(declared):
    with rehearse(declared) as rehearsal:
        rehearsal.check_fits(BY_CITY, epsilon=1, analyst="ana")
        with pytest.raises(BudgetExceeded):
            rehearsal.check_fits(BY_CITY, epsilon=30, analyst="ana")
        with pytest.raises(ParameterError):
            rehearsal.check_fits(BY_CITY, epsilon=1, analyst="a\nb")
