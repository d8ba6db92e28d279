"""`dp.connect`: a notebook changes in one line."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet as dp
from discreet import errors
from discreet.curator import Preview, Release
from server.service import ALL_VISITS, BY_CITY

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(service):
    with dp.connect(service.url, key=service.key("notebook")) as found:
        yield found


def test_answers_are_the_releases_of_a_curator(service, here):
    release = here.ask(BY_CITY, epsilon=Fraction(1, 3))
    assert isinstance(release, Release)
    assert not release.stored
    curator = dp.open(service.file)
    same = curator.ask(BY_CITY, epsilon=Fraction(1, 3), analyst="notebook")
    again = here.ask(BY_CITY, epsilon="1/3")
    assert again.stored
    assert str(again) == str(same)
    assert again._repr_html_() == same._repr_html_()
    assert again.columns() == same.columns()
    assert again.event == same.event
    assert again.label == json.loads(json.dumps(same.label))
    assert again.to_pandas().equals(same.to_pandas())
    assert np.array_equal(again["n"], release["n"])
    assert str(again.nonnegative()) == str(same.nonnegative())
    curator.close()


def test_previews_and_explanations_are_those_of_a_curator(service, here):
    curator = dp.open(service.file)
    terms = {"error": {"n": 20}, "confidence": 0.9}
    found = here.preview(ALL_VISITS, **terms)
    assert isinstance(found, Preview)
    assert found == curator.preview(ALL_VISITS, analyst="notebook", **terms)
    assert str(found) == str(curator.preview(ALL_VISITS, analyst="notebook", **terms))
    assert here.explain(BY_CITY, epsilon=1) == curator.explain(BY_CITY, epsilon=1)
    assert here.tables["visits"]["person"] == "patient_id"
    assert here.spent.requests == curator.spent.requests
    assert here.left == curator.remaining_of("notebook").epsilon
    curator.close()


def test_refusals_are_those_of_a_curator(service, here):
    for question, terms, kind in [
        (ALL_VISITS, {"epsilon": 500}, errors.BudgetExceeded),
        ("SELECT city FROM visits", {"epsilon": 1}, errors.UnsupportedQuery),
        ("SELECT note, COUNT(*) AS n FROM visits GROUP BY note", {"epsilon": 1}, errors.UndeclaredColumn),
        (ALL_VISITS, {"epsilon": -1}, errors.ParameterError),
    ]:
        curator = dp.open(service.file)
        with pytest.raises(kind) as local:
            curator.ask(question, analyst="notebook", **terms)
        curator.close()
        with pytest.raises(kind) as remote:
            here.ask(question, **terms)
        assert str(remote.value) == str(local.value)


def test_what_a_server_does_not_take_is_refused_here(here):
    with pytest.raises(errors.ParameterError, match="not SQL"):
        here.ask(dp.count(), epsilon=1)
    with pytest.raises(TypeError, match="did you mean epsilon"):
        here.ask(ALL_VISITS, eps=1)
    with pytest.raises(errors.ParameterError, match="who holds the key"):
        here.ask(ALL_VISITS, epsilon=1, analyst="someone else")
    with pytest.raises(errors.ParameterError, match="without its name"):
        here.ask(ALL_VISITS, 0.3)
    with pytest.raises(errors.ParameterError, match="cannot be sent"):
        here.ask(ALL_VISITS, epsilon=1, bounds={"cost": dp.Bounds(0, 10)})
    assert "discreet_" not in repr(here)


def test_S9_a_key_is_not_sent_in_the_clear():
    with pytest.raises(errors.ParameterError, match="in the clear"):
        dp.connect("http://clinic.example", key="discreet_x")


def test_wrong_keys_and_dead_servers_are_named(service):
    with dp.connect(service.url, key="nonsense") as stranger, pytest.raises(errors.ServerRefused) as refused:
        stranger.ask(ALL_VISITS, epsilon=1)
    assert refused.value.code == "unauthorized"
    with dp.connect("http://127.0.0.1:9", key="x") as nobody, pytest.raises(errors.ServerRefused) as refused:
        nobody.ask(ALL_VISITS, epsilon=1)
    assert refused.value.code == "unreachable"


def test_the_example_of_the_page_runs(service):
    page = (ROOT / "docs" / "server.md").read_text()
    (block,) = re.findall(r"^```py\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    assert 'dp.connect("http://127.0.0.1:8080", key=KEY)' in block
    names = {"KEY": service.key("reader")}
    exec(block.replace("http://127.0.0.1:8080", service.url), names)  # noqa: S102
    assert isinstance(names["release"], Release)
