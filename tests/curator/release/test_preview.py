"""A preview says what a request would cost and how wrong its answer would be, and changes nothing."""

from __future__ import annotations

from fractions import Fraction

import pyarrow
import pytest

from curator.doors import BY_CITY, COUNT, clinic, computing, entries
from discreet.curator import Budget
from discreet.curator.release.preview import MANY_GROUPS, about_many_groups
from discreet.data import Keys, Limits, Table
from discreet.errors import BudgetExceeded, ParameterError
from discreet.front import Curator


def never(plan, tables, *, salt):
    raise AssertionError("the data were read")


def test_a_preview_reads_and_records_nothing(place):
    curator = clinic(place)
    before = entries(curator)
    with computing(never):
        preview = curator.preview(BY_CITY, epsilon=1)
        curator.preview(BY_CITY, error={"n": 5})
        curator.explain(BY_CITY, epsilon=1)
    assert entries(curator) == before
    assert preview.event == curator.request(BY_CITY, epsilon=1).event
    assert preview.epsilon == 1
    assert not preview.answered


@pytest.mark.parametrize(
    ("budget", "offer"),
    [
        (Budget(epsilon=3), {"epsilon": "0.7"}),
        (Budget(epsilon=3, delta="1e-6"), {"epsilon": "0.4"}),
        (Budget(rho="1/10"), {"rho": "0.03"}),
        (Budget(epsilon=3, per_analyst=Budget(epsilon=1)), {"epsilon": "0.3"}),
    ],
)
def test_as_many_fit_as_it_says(place, budget, offer):
    curator = clinic(place, budget=budget)
    fits = curator.preview(f"{COUNT} AND age < 0", **offer).fits
    assert fits > 1
    with computing():
        for number in range(fits):
            assert curator.preview(f"{COUNT} AND age < {number}", **offer).fits == fits - number
            curator.ask(f"{COUNT} AND age < {number}", **offer)
        assert curator.preview(f"{COUNT} AND age < {fits}", **offer).fits == 0
        with pytest.raises(BudgetExceeded):
            curator.ask(f"{COUNT} AND age < {fits}", **offer)


def test_the_cap_that_binds_is_the_one_that_is_told(place):
    """A share that is nearly used up says so, and nobody is told to ask for what their share refuses."""
    curator = clinic(place, budget=Budget(epsilon=3, delta="1e-6", per_analyst=Budget(epsilon=1)))
    curator.ask(COUNT, epsilon="0.4", analyst="ana")
    shown = curator.preview(BY_CITY, epsilon="0.3", analyst="ana")
    assert str(shown).endswith(
        "costs 30.00% of this analyst's share of the budget (epsilon 0.3), of which 60.00% is left "
        "(0.6 of 1 in epsilon): fits 2 times"
    )
    with pytest.raises(BudgetExceeded, match=r"of the budget, .* pure epsilon of at most 0\.6 would fit"):
        curator.ask(BY_CITY, epsilon=5, analyst="ana")
    with pytest.raises(
        BudgetExceeded, match=r"share of the budget, .* pure epsilon of at most 0\.6 would fit"
    ):
        curator.ask(BY_CITY, epsilon="0.7", analyst="ana")


@pytest.mark.parametrize(
    ("question", "offer", "said"),
    [
        (
            "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
            {"epsilon": 2},
            "costs 10.00% of the budget (epsilon 2), of which 80.00% is left (16 of 20 in epsilon): fits 8 "
            "times",
        ),
        (
            "SELECT note, COUNT(DISTINCT patient) AS n FROM visits GROUP BY note",
            {"epsilon": 2, "delta": "1e-6"},
            "costs epsilon 2 and delta 1e-6 of the budget, of which 16 of 20 in epsilon and 7.3e-6 of 7.3e-6 "
            "in delta are left for such requests: fits 7 times",
        ),
        (
            COUNT,
            {"rho": "0.01"},
            "costs 0.21% of the budget (rho 0.01), of which 74.84% is left (9.45461 of 12.6329 in epsilon at "
            "order 2.6377): fits 358 times",
        ),
    ],
)
def test_what_is_left_is_told_in_the_measure_that_is_charged(place, question, offer, said):
    """One who spent 4 of 20 never reads that everything is left, and the loss is always named."""
    curator = clinic(place, budget=Budget(epsilon=20, delta="1e-5"))
    with computing():
        curator.ask(BY_CITY, epsilon=4)
    shown = curator.preview(question, **offer)
    assert str(shown).splitlines()[-1] == said
    assert said in shown._repr_html_()


def test_the_costs_are_exact(place):
    curator = clinic(place, budget=Budget(epsilon=3))
    curator.ask(COUNT, epsilon=1)
    (name, cost, left, limit), (other, none, _, _) = curator.preview(BY_CITY, epsilon="1/3").costs
    assert (name, cost, left, limit) == ("epsilon", Fraction(1, 3), 2, 3)
    assert (other, none) == ("delta", 0)


def test_the_margin_is_the_one_that_the_answer_has(place):
    curator = clinic(place)
    expected = curator.preview(COUNT, epsilon=1)["n"]
    release = curator.ask(COUNT, epsilon=1)
    (column,) = release.outputs
    assert column.upper[0] - column.values[0] == expected.margin
    with pytest.raises(KeyError):
        curator.preview(COUNT, epsilon=1)["m"]


def test_a_wanted_error_gives_the_epsilon_it_takes(place):
    curator = clinic(place)
    preview = curator.preview(COUNT, error={"n": 10})
    assert preview["n"].margin <= 10
    cheaper = Fraction(preview.epsilon) * Fraction(99, 100)
    assert curator.preview(COUNT, epsilon=cheaper)["n"].margin > 10
    curator.ask(COUNT, error={"n": 10})
    assert curator.preview(COUNT, error={"n": 10}).answered


def test_normal_noise_has_no_pure_epsilon(place):
    curator = clinic(place, budget=Budget(rho=1))
    assert curator.preview(COUNT, rho="1/100").epsilon is None


def test_an_answer_that_is_kept_costs_nothing(place):
    curator = clinic(place, budget=Budget(epsilon=1))
    curator.ask(COUNT, epsilon=1)
    preview = curator.preview(COUNT, epsilon=1)
    assert preview.answered
    assert "costs nothing" in str(preview)


def test_what_is_said(place):
    curator = clinic(place, budget=Budget(epsilon=3))
    lines = str(curator.preview(BY_CITY, epsilon="1/2")).splitlines()
    assert lines[0].split() == ["output", "±", "at", "95%", "std.", "deviation"]
    said = "costs 16.67% of the budget (epsilon 0.5), of which 100.00% is left (3 of 3 in epsilon)"
    assert lines[-1] == f"{said}: fits 6 times"
    assert "1000 values" in lines[2]
    curator.ask(COUNT, epsilon=2)
    assert str(curator.preview(BY_CITY, epsilon=1)).endswith(
        "33.34% of the budget (epsilon 1), of which 33.33% is left (1 of 3 in epsilon): fits once"
    )
    assert str(curator.preview(BY_CITY, epsilon=2)).endswith("does not fit")
    assert "cannot count this kind of noise" in str(curator.preview(COUNT, rho=1))
    assert "over 1000%" in str(
        clinic(place, name="l", budget=Budget(epsilon="1e-500")).preview(COUNT, epsilon=1)
    )
    assert "over 1000%" in str(clinic(place, name="m", budget=Budget(epsilon=0)).preview(COUNT, epsilon=1))


def test_what_a_notebook_shows_is_escaped(place):
    curator = clinic(place)
    html = curator.preview(f"""{COUNT.replace(" n ", ' "<b>&" ')}""", epsilon=1)._repr_html_()
    assert "&lt;b&gt;&amp;" in html
    assert "<b>" not in html


@pytest.mark.parametrize("rows", [0, -1, 1.5, float("nan"), "many", None, 10**19])
def test_the_number_of_rows_is_a_number(place, rows):
    with pytest.raises(ParameterError, match="rows"):
        clinic(place).preview(BY_CITY, epsilon=1, rows=rows)


def test_more_rows_make_means_more_exact(place):
    curator = clinic(place)
    few, many = (curator.preview(BY_CITY, epsilon=1, rows=rows)["mean_cost"] for rows in (1000, 10**6))
    assert many.margin < few.margin / 100
    assert "1000000 values" in many.assumes


def test_an_answer_of_more_groups_than_can_be_read_is_warned_of(place):
    """The cross product of declared keys: many groups beside few persons, and what would help."""
    columns = {"a": Keys(range(150)), "b": Keys(range(100))}
    rows = pyarrow.table({"who": [1], "a": [3], "b": [4]})
    table = Table(rows, person="who", limits=Limits(rows=1), columns=columns)
    curator = Curator({"t": table}, budget=Budget(epsilon=9, delta=1e-4), ledger=place / "many.ledger")
    sql = "SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b"
    warned = "15,000 groups are answered, empty ones too, each with this noise"
    assert warned in str(curator.preview(sql, epsilon=1))
    assert "keys='chosen'" in str(curator.preview(sql, epsilon=1))
    assert warned in curator.explain(sql)
    chosen = {"epsilon": 1, "delta": 1e-6, "keys": "chosen"}
    assert "groups are answered" not in str(curator.preview(sql, **chosen))
    assert len(curator.ask(sql, **chosen)["n"]) == 0
    assert about_many_groups(MANY_GROUPS) == ""
    assert "empty ones too" not in str(curator.preview(sql.replace("a, b", "a"), epsilon=1))
