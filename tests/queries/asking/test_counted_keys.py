"""Counts by chosen keys: one measurement, the noisy count that passed is the answer."""

from __future__ import annotations

import datetime
from unittest import mock

import pyarrow
import pytest

from curator.release.test_label import valid
from discreet import noise
from discreet.curator import Budget
from discreet.curator.request.counted_keys_request import CountedKeysRequest
from discreet.data import EACH_ROW, Bounds, Keys, Limits, Table, count
from discreet.errors import BudgetExceeded, EngineFailed, ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.front import Curator

BY_TOWN = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
OFFER = {"epsilon": 1, "delta": 1e-6}
DAY = datetime.date(2026, 1, 31)
SIZES = {"a": 500, "b": 400, "c": 60, "d": 3}
ROWS = [
    {"who": f"{town} {n}", "town": town, "ward": n % 2, "day": DAY, "cost": 5.0}
    for town, size in SIZES.items()
    for n in range(size)
]
TABLE = Table(
    pyarrow.Table.from_pylist(ROWS),
    person="who",
    limits=Limits(rows=1),
    columns={"ward": Keys([0, 1, 2, None]), "cost": Bounds(0, 10, step=1)},
)


def clinic(place, budget=None, table=TABLE):
    budget = budget or Budget(epsilon=20, delta=1e-4)
    return Curator({"visits": table}, budget=budget, ledger=place / "clinic.ledger")


def test_one_measurement_answers_with_the_whole_offer(place):
    curator = clinic(place)
    answer = curator.ask(BY_TOWN, **OFFER)
    assert answer.keys == {"town": ["a", "b", "c"]}
    assert abs(answer["n"] - [500, 400, 60]).max() < 15
    assert curator.spent.requests == 1
    assert curator.spent.epsilon == 1
    assert isinstance(answer.request, CountedKeysRequest)
    valid(answer.label)
    assert answer.label["private"] is True
    assert answer.label["chosen_keys"][0]["threshold"] == answer.request.mechanism.threshold
    assert answer.event == answer.request.event
    assert "a" in str(answer)


def test_persons_rows_and_keys_are_one_count(place):
    curator = clinic(place)
    counts = "COUNT(*) AS n, COUNT(DISTINCT who) AS p, COUNT(town) AS t, COUNT(*) * 2 AS m"
    sql = BY_TOWN.replace("COUNT(*) AS n", counts)
    answer = curator.ask(sql, **OFFER)
    assert (answer["n"] == answer["p"]).all()
    assert (answer["n"] == answer["t"]).all()
    assert (answer["m"] == 2 * answer["n"]).all()
    assert curator.spent.requests == 1


def test_asking_again_in_other_words_costs_nothing(place):
    first = clinic(place).ask(BY_TOWN, **OFFER)
    curator = clinic(place)
    again = curator.ask(
        "SELECT town, COUNT(DISTINCT who) AS many FROM visits GROUP BY town", **OFFER, confidence="0.5"
    )
    assert again.stored
    assert (again["many"] == first["n"]).all()
    assert curator.spent.requests == 1
    narrow, wide = again.outputs[0], first.outputs[0]
    assert (narrow.upper < wide.upper).all()


def test_having_order_limit_and_calculations_act_on_what_was_shown(place):
    sql = f"{BY_TOWN} HAVING COUNT(*) > 100 ORDER BY n DESC LIMIT 1"
    answer = clinic(place).ask(sql, **OFFER)
    assert answer.keys == {"town": ["a"]}
    hidden = clinic(place).ask("SELECT town FROM visits GROUP BY town HAVING COUNT(*) > 100", **OFFER)
    assert hidden.keys == {"town": ["a", "b"]}
    odd = "CASE WHEN ward = 1 THEN COUNT(*) ELSE 0 END AS odd"
    two = BY_TOWN.replace("COUNT(*) AS n", odd).replace("town", "town, ward")
    answer = clinic(place).ask(two, **OFFER)
    assert all((n > 0) == (ward == 1) for ward, n in zip(answer.keys["ward"], answer["odd"], strict=True))


def test_only_combinations_that_enough_persons_have_are_shown(place):
    answer = clinic(place).ask("SELECT ward, town, COUNT(*) AS n FROM visits GROUP BY ward, town", **OFFER)
    shown = list(zip(answer.keys["ward"], answer.keys["town"], strict=True))
    assert shown == [(ward, town) for ward in (0, 1) for town in ("a", "b", "c")]


def test_declared_keys_are_chosen_where_that_is_asked_for(place):
    curator = clinic(place)
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    assert len(curator.ask(sql, epsilon=1)["n"]) == 4
    answer = curator.ask(sql, **OFFER, keys="chosen")
    assert answer.keys == {"ward": [0, 1]}
    assert "ward" in str(curator.preview(sql, **OFFER, keys="chosen"))
    assert "threshold" in curator.explain(sql, **OFFER, keys="chosen")
    for wrong in ({"epsilon": 1}, {**OFFER, "key_share": "1/2"}):
        with pytest.raises(UnsupportedQuery, match="keys='chosen'"):
            curator.ask(sql, keys="chosen", **wrong)
    with pytest.raises(UnsupportedQuery, match="keys='chosen'"):
        curator.ask("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", keys="chosen", **OFFER)
    with pytest.raises(ParameterError, match="keys"):
        curator.ask(sql, keys="all", **OFFER)


def test_rho_and_delta_choose_keys_too(place):
    budget = Budget(rho=2, delta=1e-4)
    curator = clinic(place, budget)
    answer = curator.ask(BY_TOWN, rho="1/2", delta="1e-6")
    assert answer.keys["town"][:2] == ["a", "b"]
    assert curator.spent.rho == 0.5
    assert answer.label["cost"] == {"rho": "1/2", "delta": "1/1000000"}
    two = curator.ask("SELECT town, AVG(cost) AS m FROM visits GROUP BY town", rho="1/2", delta="1e-6")
    assert two.keys["town"][:2] == ["a", "b"]
    assert curator.spent.rho <= 1
    assert two.label["cost"]["delta"] == "0"
    assert "rho" in curator.explain(BY_TOWN, rho="1/2", delta="1e-6")
    declared = curator.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", rho="1/4", delta="1e-6")
    assert len(declared["n"]) == 4
    assert declared.label["cost"] == {"rho": "1/4", "delta": "0"}


def test_a_delta_that_cannot_be_charged_is_refused(place):
    for budget in (Budget(rho=2), Budget(rho=2, delta=1e-3, per_analyst=Budget(rho=1))):
        ledger = place / f"{budget.delta.numerator}.ledger"
        curator = Curator({"visits": TABLE}, budget=budget, ledger=ledger)
        with pytest.raises(ParameterError, match="delta"):
            curator.ask(BY_TOWN, rho=1, delta=1e-6)
        assert curator.spent.requests == 0


@pytest.mark.parametrize("offer", [{"rho": 1}, {"epsilon": 1}])
def test_without_delta_nothing_is_chosen(place, offer):
    with pytest.raises(UndeclaredColumn, match="with delta, to have them"):
        clinic(place).ask(BY_TOWN, **offer)


def test_what_does_not_fit_is_refused_before_the_charge(place):
    curator = clinic(place, Budget(epsilon="0.5", delta=1e-4))
    with pytest.raises(BudgetExceeded):
        curator.ask(BY_TOWN, **OFFER)
    assert curator.preview(BY_TOWN, **OFFER).fits == 0
    assert curator.spent.requests == 0


def test_a_preview_says_from_which_size_keys_are_shown(place):
    curator = clinic(place)
    found = curator.preview(BY_TOWN, **OFFER)
    (one,) = found.keys
    assert (one.column, one.unit) == ("town", "persons")
    assert 1 < one.half <= one.most < 60
    assert not found.answered
    curator.ask(BY_TOWN, **OFFER)
    assert curator.preview(BY_TOWN, **OFFER).answered
    assert found["n"].margin < curator.preview(BY_TOWN, key_share="1/2", **OFFER)["n"].margin


def test_no_key_is_common_enough(place):
    curator = clinic(place)
    answer = curator.ask(BY_TOWN, epsilon="0.001", delta="1e-9")
    assert answer.columns() == {"town": [], "n": [], "n_lower": [], "n_upper": []}
    assert str(answer).splitlines()[1:] == ["no key was shown: none was found with enough persons"]
    valid(answer.label)


def test_rows_are_counted_where_that_shows_no_fewer_keys(place):
    rows = [row for row in ROWS for _ in range(2)]

    def table(limits):
        return Table(pyarrow.Table.from_pylist(rows), person="who", limits=limits)

    by_rows = clinic(place, table=table(Limits(groups=1, rows_per_group=2))).explain(BY_TOWN, **OFFER)
    assert "one measurement" in by_rows
    assert "rows, at most 2" in by_rows
    many = Curator(
        {"visits": table(Limits(groups=1, rows_per_group=500))},
        budget=Budget(epsilon=20, delta=1e-4),
        ledger=place / "many.ledger",
    )
    assert "the choice of keys, first" in many.explain(BY_TOWN, **OFFER)
    answer = clinic(place, table=table(Limits(groups=1, rows_per_group=2))).ask(BY_TOWN, **OFFER)
    assert answer.keys["town"][:2] == ["a", "b"]
    assert abs(answer["n"][:2] - [1000, 800]).max() < 60


def test_what_was_paid_for_in_two_measurements_is_not_paid_again(place):
    first = clinic(place).ask(BY_TOWN, **OFFER, key_share="1/3")
    curator = clinic(place)
    assert curator.preview(BY_TOWN, **OFFER).answered
    again = curator.ask(BY_TOWN, **OFFER)
    assert again.stored
    assert (again["n"] == first["n"]).all()
    assert curator.spent.requests == 2


def test_dates_and_each_row_a_person(place):
    assert clinic(place).ask(BY_TOWN.replace("town", "day"), **OFFER).keys == {"day": [DAY]}
    rows = Table(pyarrow.table({"x": ["a"] * 500 + ["b"]}), person=EACH_ROW)
    curator = Curator({"t": rows}, budget=Budget(epsilon=9, delta=1e-4), ledger=place / "rows.ledger")
    answer = curator.ask(curator.table("t").group_by("x").agg(n=count()), **OFFER)
    assert answer.keys == {"x": ["a"]}
    assert (
        curator.sandbox(rows=50).ask("SELECT x, COUNT(*) AS n FROM t GROUP BY x", **OFFER).label["private"]
        is False
    )


def test_a_failed_count_can_be_asked_again_at_no_cost(place):
    curator = clinic(place)
    target = "discreet.curator.request.counted_keys_request.compute_combination_counts"
    with mock.patch(target, side_effect=ValueError("secret")), pytest.raises(EngineFailed) as caught:
        curator.ask(BY_TOWN, **OFFER)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert curator.ask(BY_TOWN, **OFFER).keys == {"town": ["a", "b", "c"]}
    assert curator.spent.requests == 1


def test_replayed_noise_is_marked(place):
    curator = clinic(place)
    with noise.replay(5):
        answer = curator.ask(BY_TOWN, **OFFER)
    assert answer.label["private"] is False
    assert clinic(place).ask(BY_TOWN, **OFFER).label["private"] is False
    assert not noise.is_private(answer["n"])


def test_shown_counts_are_not_averaged(place):
    curator = clinic(place)
    with pytest.raises(ParameterError, match="passed a threshold"):
        curator.remeasure(curator.ask(BY_TOWN, **OFFER), epsilon=1)
