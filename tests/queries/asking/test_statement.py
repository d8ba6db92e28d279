"""Statements on their terms: previews, explanations, wanted errors and keys that nobody declared."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

from curator.doors import clinic, entries
from discreet.curator import Budget
from discreet.data import Bounds, Limits, Table
from discreet.errors import BudgetExceeded, ParameterError, UnsupportedQuery

MEAN = "SELECT AVG(n) AS a, MAX(n) AS m FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) AS t"
SHARE = (
    "SELECT city, COUNT(*) / (SELECT COUNT(*) FROM visits WHERE age > 7) AS share FROM visits GROUP BY city"
)


def test_a_preview_says_what_the_whole_costs_and_how_wrong_it_is(tmp_path):
    curator = clinic(tmp_path)
    found = curator.preview(SHARE, epsilon=1)
    assert found.epsilon == 1
    assert not found.answered
    assert found["share"].margin > 0
    wide, narrow = (curator.preview(MEAN, epsilon=epsilon)["a"].margin for epsilon in (1, 4))
    assert narrow < wide
    assert not entries(curator, "charge")


def test_an_explanation_names_every_question_and_what_follows(tmp_path):
    curator = clinic(tmp_path)
    text = curator.explain(SHARE, epsilon=1)
    assert "question 1 of 2, for 0.5 of what is offered" in text
    assert "one charge for all of them" in text
    assert "expected margins" in text
    assert "question 1 of 1" in curator.explain(MEAN)
    assert "SELECT" in curator.explain(MEAN, sql=True)


def test_the_offer_for_a_wanted_error_is_found(tmp_path):
    curator = clinic(tmp_path, budget=Budget(epsilon=100))
    release = curator.ask(SHARE, error={"share": 0.5}, rows=50)
    assert curator.preview(SHARE, epsilon=release.event.pure_epsilon, rows=50)["share"].margin <= 0.5
    with pytest.raises(ParameterError, match="some of share"):
        curator.ask(SHARE, error={"nothing": 1})


@pytest.fixture(scope="module")
def unknown():
    draw = np.random.default_rng(2)
    rows = pyarrow.table(
        {
            "patient": np.arange(3000),
            "drug": draw.choice(["a", "b", "c"], 3000),
            "ward": draw.choice(["x", "y"], 3000),
            "cost": draw.integers(0, 10, 3000),
        }
    )
    table = Table(rows, person="patient", limits=Limits(rows=1), columns={"cost": Bounds(0, 10)}, version="1")
    return {"visits": table}


DRUGS = "(SELECT drug, COUNT(*) AS n FROM visits GROUP BY drug) AS t"
WARDS = "(SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS u"


def test_undeclared_keys_are_chosen_first_and_all_values_are_one_charge(tmp_path, unknown):
    curator = clinic(tmp_path, tables=unknown, budget=Budget(epsilon=10, delta=1e-3))
    text = f"SELECT SUM(t.n) AS s, COUNT(*) AS k FROM {DRUGS}"  # noqa: S608
    both = f"SELECT t.drug, u.ward, t.n - u.n AS d FROM {DRUGS} CROSS JOIN {WARDS}"  # noqa: S608
    assert curator.preview(text, epsilon=4, delta=1e-4).keys
    release = curator.ask(text, epsilon=4, delta=1e-4)
    assert abs(release["s"][0] - 3000) < 300
    assert release["k"][0] == 3
    assert len(release.chosen) == 1
    assert len(release.label["chosen_keys"]) == 1
    release = curator.ask(both, epsilon=4, delta=1e-4)
    assert len(release.chosen) == 2
    assert len(release.to_pandas()) == 6
    assert len(entries(curator, "charge")) == 5  # three choices, and the values of either statement
    assert curator.preview(both, epsilon=4, delta=1e-4).answered
    assert curator.ask(both, epsilon=4, delta=1e-4).stored


def test_a_choice_of_keys_is_not_paid_where_the_values_do_not_fit(tmp_path, unknown):
    curator = clinic(tmp_path, tables=unknown, budget=Budget(epsilon=1, delta=1e-3))
    with pytest.raises(BudgetExceeded):
        curator.ask(f"SELECT SUM(n) AS s FROM {DRUGS}", epsilon=2, delta=1e-4)  # noqa: S608
    assert not entries(curator, "charge")


def test_keys_are_chosen_for_rho_and_delta_too(tmp_path, unknown):
    curator = clinic(tmp_path, tables=unknown, budget=Budget(epsilon=50, delta=1e-3))
    release = curator.ask(f"SELECT COUNT(*) AS k, SUM(n) AS s FROM {DRUGS}", rho=1, delta=1e-5)  # noqa: S608
    assert release["k"][0] == 3
    assert abs(release["s"][0] - 3000) < 100


def test_keys_of_statements_are_chosen_as_wanted(tmp_path, unknown):
    curator = clinic(tmp_path, tables=unknown, budget=Budget(epsilon=50, delta=1e-3))
    text = f"SELECT COUNT(*) AS k FROM {DRUGS} WHERE n > 0"  # noqa: S608
    plain, rounds = (
        curator.ask(text, epsilon=4, delta=1e-5, keys=keys) for keys in ("declared", "in rounds")
    )
    kinds = [type(one.chosen[0].mechanism).__name__ for one in (plain, rounds)]
    assert kinds[0] != kinds[1] == "KeysInRounds"
    with pytest.raises(UnsupportedQuery, match="chosen"):
        curator.ask(text, epsilon=4, delta=1e-5, keys="chosen")


def test_a_statement_without_any_key_says_so(tmp_path, unknown):
    curator = clinic(tmp_path, tables=unknown, budget=Budget(epsilon=50, delta=1e-3))
    text = f"SELECT COUNT(*) AS k, SUM(n) AS s FROM {DRUGS}"  # noqa: S608
    for _ in range(2):
        with pytest.raises(UnsupportedQuery, match="no value was shown"):
            curator.ask(text, epsilon=1e-4, delta=1e-9)
        assert len(entries(curator, "charge")) == 1
    assert not curator.preview(text, epsilon=1e-4, delta=1e-9).answered
