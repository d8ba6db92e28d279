"""Answers survive the way through JSON, digit by digit."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import pytest

from discreet.curator import AnswerColumn
from discreet.curator.release.json_form import preview_object
from discreet.errors import LedgerError
from discreet.server import wire_form
from discreet.server.wire_form import received_preview, received_release, sent_release
from front.declared_clinic import write_clinic


@pytest.fixture
def curator(tmp_path):
    from discreet.front.opening import open_file

    found = open_file(write_clinic(tmp_path))
    yield found
    found.close()


QUESTIONS = [
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": 1}),
    ("SELECT city, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY city", {"epsilon": 0.01}),
    ("SELECT AVG(cost) AS m, COUNT(*) AS n FROM visits WHERE age < 0", {"epsilon": 0.001}),
    ("SELECT city, MEDIAN(age) AS m FROM visits GROUP BY city ORDER BY city", {"epsilon": 1}),
    ("SELECT note, COUNT(*) AS n FROM visits GROUP BY note", {"epsilon": 1, "delta": 1e-7}),
]


@pytest.mark.parametrize(("question", "terms"), QUESTIONS, ids=range(len(QUESTIONS)))
def test_an_answer_is_the_same_after_its_way(curator, question, terms):
    release = curator.ask(question, **terms)
    again = received_release(json.loads(json.dumps(sent_release(release))))
    assert str(again) == str(release)
    assert again._repr_html_() == release._repr_html_()
    assert json.dumps(again.columns(), default=str) == json.dumps(release.columns(), default=str)
    assert again.event == release.event
    assert str(again.nonnegative()) == str(release.nonnegative())
    for one, other in zip(again.outputs, release.outputs, strict=True):
        assert one.values.dtype == other.values.dtype
    preview = curator.preview(question, **terms)
    assert received_preview(json.loads(json.dumps(preview_object(preview)))) == preview


def test_floats_that_json_lacks_and_days_survive():
    column = AnswerColumn(
        name="m",
        values=np.array([np.nan, 1.5, -0.0]),
        lower=np.array([-np.inf, 1, 0]),
        upper=np.array([np.inf, 2, 0]),
        unknown=np.array([True, False, False]),
    )
    again = wire_form._received_column(json.loads(json.dumps(wire_form._sent_column(column))))
    for name in ("values", "lower", "upper", "unknown"):
        assert np.array_equal(getattr(again, name), getattr(column, name), equal_nan=name == "values")
    for value in (None, True, 7, "x", date(2026, 1, 31), [date(2026, 1, 31), None], 10**30):
        assert wire_form._received(json.loads(json.dumps(wire_form._sent(value)))) == value


def test_the_plan_stays_on_the_server(curator):
    again = received_release(sent_release(curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)))
    with pytest.raises(AttributeError, match="on its server"):
        _ = again.plan


@pytest.mark.parametrize("content", [{}, {"event": {}}, {"event": {"event": "Nothing"}}])
def test_what_is_not_an_answer_is_refused(content):
    with pytest.raises(LedgerError):
        received_release(content)
