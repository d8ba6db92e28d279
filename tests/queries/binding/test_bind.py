"""What a query measures, and which outputs share it."""

from __future__ import annotations

import pickle
from fractions import Fraction
from math import sqrt

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import EACH_ROW, Bounds, CountNonNull, CountRows, Limits, Sum, Table, col, count
from discreet.errors import UndeclaredColumn
from discreet.mechanisms import Gaussian, Laplace
from discreet.queries import (
    CountOutput,
    MeanOutput,
    Offer,
    SumOutput,
    TableRequest,
    bind,
    build_request,
    expectations,
)
from discreet.queries.binding.missing_declarations import NotDeclared
from queries.clinic import TABLES, visits

VISITS = TableRequest(table="visits")
COST = Bounds(0, 5000, step=0.01)
AGE = Bounds(0, 110)


def measures(**aggregates):
    return bind(VISITS.agg(**aggregates), TABLES).plan.measures


def test_counts():
    assert measures(n=count()) == (CountRows(),)
    assert measures(n=col("note").count()) == (CountNonNull(column="note"),)
    assert measures(n=count(), m=count()) == (CountRows(),)


def test_a_mean_is_a_centered_sum_and_a_count():
    assert measures(m=col("age").mean()) == (
        Sum(column="age", bounds=AGE, center=55),
        CountNonNull(column="age"),
    )
    total, counted = measures(m=col("cost").mean())
    assert total == Sum(column="cost", bounds=COST, center=2500)
    assert counted == CountNonNull(column="cost", bounds=COST)


def test_all_aggregates_of_a_column_share():
    shared = measures(
        m=col("cost").mean(), n=col("cost").count(), s=col("cost").sum(), again=col("cost").mean()
    )
    assert shared == measures(m=col("cost").mean())


def test_a_sum_alone_is_a_single_measure():
    assert measures(s=col("age").sum()) == (Sum(column="age", bounds=AGE),)
    assert measures(s=col("age").sum(), m=col("cost").mean())[0] == Sum(column="age", bounds=AGE)


def test_bounds_around_zero_need_no_center():
    plain = measures(s=col("balance").sum(), m=col("balance").mean())
    assert plain == (Sum(column="balance", bounds=Bounds(-500, 500)), CountNonNull(column="balance"))
    outputs = bind(VISITS.agg(s=col("balance").sum(), m=col("balance").mean()), TABLES).outputs
    assert outputs[0] == SumOutput(name="s", total=plain[0])
    assert outputs[1] == MeanOutput(name="m", total=plain[0], count=plain[1])


def present(bounds, kind):
    table = Table(pyarrow.table({"x": pyarrow.array([], kind)}), person=EACH_ROW, columns={"x": bounds})
    bound = bind(TableRequest(table="t").agg(n=col("x").count(), m=col("x").mean()), {"t": table})
    assert isinstance(bound.outputs[0], CountOutput)
    assert bound.outputs[1].count == bound.outputs[0].measure
    return bound.outputs[0].measure


@pytest.mark.parametrize(
    ("kind", "rules", "expected"),
    [
        (pyarrow.int64(), {}, CountNonNull(column="x")),
        (pyarrow.int64(), {"null": 3}, CountRows()),
        (pyarrow.bool_(), {}, CountNonNull(column="x")),
        (pyarrow.float64(), {"nan": 3}, CountNonNull(column="x")),
        (pyarrow.float64(), {"nan": 3, "null": 0}, CountRows()),
        (pyarrow.float64(), {}, None),
        (pyarrow.float64(), {"null": 0}, None),
        (pyarrow.float64(), {"nan": 3, "infinity": "drop"}, None),
        (pyarrow.decimal128(9, 2), {}, None),
    ],
)
def test_the_count_of_a_column_is_that_of_its_rules(kind, rules, expected):
    bounds = Bounds(0, 9, step=1, **rules)
    assert present(bounds, kind) == (expected or CountNonNull(column="x", bounds=bounds))


def test_the_version_of_the_data_is_bound():
    bound = bind(VISITS.agg(n=count()), {"visits": visits([], version="2026-01")})
    assert bound.versions == (("visits", "2026-01"),)
    assert bound.statistics.cells == 1


def test_keys_and_bounds_are_needed():
    with pytest.raises(
        UndeclaredColumn, match="keys were never declared; group by 'city' or 'ward' or 'age'"
    ):
        bind(VISITS.group_by("cost").agg(n=count()), TABLES)
    with pytest.raises(UndeclaredColumn, match="needs bounds, and it is text") as refused:
        bind(VISITS.agg(n=col("note").mean()), TABLES)
    assert 'CLIP(CAST("note" AS FLOAT), 0, 100), or have its owner declare' in str(refused.value)
    assert "AUTO" not in str(refused.value)
    bare = {"visits": visits([], columns={})}
    with pytest.raises(UndeclaredColumn, match="group by 'urgent'"):
        bind(VISITS.group_by("city").agg(n=count()), bare)
    with pytest.raises(
        NotDeclared,
        match=r"buy them with bounds=AUTO, or have its owner declare columns=\{'age': Bounds\(lower",
    ):
        bind(VISITS.agg(n=col("age").sum()), bare)


def test_a_person_is_no_group_and_has_no_bounds():
    with pytest.raises(UndeclaredColumn, match="groups of one person cannot be private; group by 'city' or"):
        bind(VISITS.group_by("patient").agg(n=count()), TABLES)
    with pytest.raises(UndeclaredColumn, match="the person column cannot have; take that of 'age' or"):
        bind(VISITS.agg(n=col("patient").mean()), TABLES)
    bare = {"visits": visits([], columns={}, limits=Limits(rows=1))}
    with pytest.raises(
        UndeclaredColumn, match="cannot be private; group by 'urgent', or ask without GROUP BY patient"
    ):
        bind(VISITS.group_by("patient").agg(n=count()), bare)
    with pytest.raises(UndeclaredColumn, match=r"cannot have; ask for COUNT\(\*\)"):
        bind(VISITS.agg(n=col("patient").sum()), bare)


def test_what_is_not_declared_survives_copies():
    with pytest.raises(NotDeclared) as caught:
        bind(VISITS.agg(n=col("note").mean()), TABLES)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert (again.table, again.column, again.needs) == ("visits", "note", Bounds)


bounds = st.tuples(st.integers(-1000, 1000), st.integers(1, 1000)).map(
    lambda ends: Bounds(ends[0], sum(ends))
)


@given(bounds, st.integers(1, 5))
def test_a_sum_beside_a_mean_is_better_shared(declared, limit):
    """Against a third measure of its own, and an even split: smaller errors of both, pure and zCDP."""
    table = Table(
        pyarrow.table({"p": [1], "x": [1]}), person="p", limits=Limits(rows=limit), columns={"x": declared}
    )
    query = TableRequest(table="t").agg(s=col("x").sum(), m=col("x").mean())
    bound = bind(query, {"t": table})
    assert len(bound.plan.measures) == 2
    alone = (
        bind(TableRequest(table="t").agg(s=col("x").sum()), {"t": table}).statistics.statistics[0].sensitivity
    )
    centered, counted = (one.sensitivity for one in bound.statistics.statistics)
    for offer, separate in (
        (Offer(epsilon="1/10"), lambda one: Laplace(sensitivity=one, epsilon=Fraction(1, 30), size=1)),
        (Offer(rho="1/100"), lambda one: Gaussian(sensitivity=one, rho=Fraction(1, 300), size=1)),
    ):
        request = build_request(query, {"t": table}, offer)
        by_name = {
            expected.name: expected.standard_deviation for expected in expectations(request, rows=10**6)
        }
        largest = float(bound.plan.measures[0].largest)
        errors = {
            "s": sqrt(separate(alone).error.variance),
            "m": sqrt(separate(centered).error.variance + largest**2 * separate(counted).error.variance)
            / 10**6,
        }
        assert by_name["s"] <= errors["s"] * 1.001
        assert by_name["m"] <= errors["m"] * 1.001
