"""What a fit released: the numbers, the label, and whether they were stored."""

from __future__ import annotations

import pytest

from curator.doors import clinic
from discreet.curator import schema
from discreet.curator.request.request import Request
from discreet.front import fits
from discreet.learning import LogisticRegression


@pytest.fixture
def asked(place):
    curator = clinic(place)
    offer = {"epsilon": 1, "delta": None, "rho": None}
    return curator, fits._request(curator, LogisticRegression(), "visits", ["age"], "city", None, offer)[1]


def test_a_label_has_the_form_of_every_label(asked):
    curator, request = asked
    first, again = curator.answer_fit(request), curator.answer_fit(request)
    assert (first.stored, again.stored) == (False, True)
    assert first.drawn == again.drawn
    assert set(schema()["required"]) <= set(first.label) <= set(schema()["properties"])
    assert first.label["plan"].startswith("noisy newton of rows, at most 3 of a person")
    assert first.label["counted"] == "at most 3 rows per person counted, age within 0 to 110"
    assert first.label["loss"]["epsilon"] == "1"
    assert first.label["private"] is True
    assert first.request is request


def test_a_fit_is_not_an_answer_of_values(asked):
    curator, request = asked
    assert not isinstance(request, Request)
    with pytest.raises(Exception, match="not a request for values"):
        curator.answer(request)
