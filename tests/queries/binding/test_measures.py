"""What aggregates measure, and which measures they share."""

from __future__ import annotations

from fractions import Fraction

import pyarrow
import pytest

from discreet.data import (
    EACH_ROW,
    Bounds,
    CountDistinct,
    CountNonNull,
    CountPersons,
    CountRows,
    Factor,
    Histogram,
    Keys,
    Limits,
    Moment,
    Sum,
    Table,
    col,
    correlation,
    count,
    count_persons,
    covariance,
)
from discreet.data.facts.persons import person_columns
from discreet.data.language.relations import Named, Project, Source
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries import (
    ExtremeOutput,
    FrequentOutput,
    Offer,
    QuantileOutput,
    TableRequest,
    bind,
    build_request,
    parse,
)
from queries.clinic import CITIES, COLUMNS, TABLES, visits

VISITS = TableRequest(table="visits")
AGE = Bounds(0, 110)
BALANCE = Bounds(-500, 500)


def measures(**aggregates):
    return bind(VISITS.agg(**aggregates), TABLES).plan.measures


def outputs(**aggregates):
    return bind(VISITS.agg(**aggregates), TABLES).outputs


def test_counts():
    assert measures(p=count_persons()) == (CountPersons(),)
    assert measures(d=col("note").count_distinct()) == (CountDistinct(column="note"),)
    assert measures(p=col("patient").count_distinct(), q=count_persons()) == (CountPersons(),)
    assert measures(d=(col("patient") + 1).count_distinct()) != (CountPersons(),)


def test_a_person_column_keeps_its_meaning_under_another_name():
    renamed = Project(
        source=Source(table="visits"),
        columns=(
            Named(name="who", expression=col("patient").expression),
            Named(name="next", expression=(col("patient") + 1).expression),
        ),
    )
    assert person_columns(renamed, TABLES) == {"who"}
    assert person_columns(Source(table="visits"), {"visits": visits([])}) == frozenset()


def test_a_variance_adds_squares_to_the_parts_of_a_mean():
    shared = measures(m=col("age").mean(), n=col("age").count(), s=col("age").sum(), v=col("age").variance())
    squares = Moment(factors=(Factor(column="age", bounds=AGE, center=55, power=2),), shift=55**2 // 2)
    assert shared == (Sum(column="age", bounds=AGE, center=55), CountNonNull(column="age"), squares)
    four = measures(
        a=col("age").variance(),
        b=col("age").std(),
        c=col("age").variance(sample=True),
        d=col("age").std(sample=True),
    )
    assert set(four) == set(shared)
    assert squares.largest == (55**2 + 1) // 2  # the shift halves what one row moves


def test_pairs_count_rows_in_which_both_values_are_present():
    one, other = (Factor(column=name, bounds=bounds, center=center) for name, bounds, center in (
        ("age", AGE, 55), ("balance", BALANCE, 0)
    ))  # fmt: skip
    found = measures(c=covariance(col("age"), col("balance")))
    absent = Factor(column="balance", bounds=BALANCE, power=0)
    present = Factor(column="age", bounds=AGE, power=0)
    assert found == (
        Moment(factors=(one, other)),
        Moment(factors=(one, absent)),
        Moment(factors=(present, other)),
        Moment(factors=(present, absent)),
    )
    both = measures(c=covariance(col("balance"), col("age")), r=correlation(col("age"), col("balance")))
    assert len(both) == 6
    assert set(found) <= set(both)


def test_columns_without_absent_values_share_with_means():
    columns = COLUMNS | {"age": Bounds(0, 110, null=0), "balance": Bounds(-500, 500, null=0)}
    tables = {"visits": visits([], limits=Limits(rows=2), columns=columns)}
    query = VISITS.agg(
        m=col("age").mean(), v=col("age").variance(), r=correlation(col("age"), col("balance")), n=count()
    )
    found = bind(query, tables).plan.measures
    assert len(found) == 6
    assert CountRows() in found
    assert sum(isinstance(measure, Sum) for measure in found) == 2


def test_the_grid_is_coarser_where_squares_are_too_large():
    found = measures(m=col("cost").mean(), v=col("cost").variance())
    sums = [measure for measure in found if isinstance(measure, Sum)]
    assert [float(one.bounds.step) for one in sums] == [0.01, 0.1]
    (squares,) = (measure for measure in found if isinstance(measure, Moment))
    assert squares.factors[0].bounds == sums[1].bounds
    assert sum(isinstance(measure, CountNonNull) for measure in found) == 1
    many = {"visits": visits([], limits=Limits(rows=10**6))}
    build_request(
        VISITS.agg(v=col("cost").variance()), many, Offer(epsilon="1/100")
    )  # noise that can be drawn


def test_quantiles_of_a_column_share_one_histogram():
    low, mid, high, least = outputs(
        a=col("age").quantile("1/4"), b=col("age").median(), c=col("age").quantile(0.9), d=col("age").min()
    )
    histogram = Histogram(column="age", values=AGE)
    shares = [Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]
    for output, share in zip((low, mid, high), shares, strict=True):
        beside = tuple(other for other in shares if other != share)
        assert output == QuantileOutput(name=output.name, histogram=histogram, share=share, beside=beside)
    assert least == ExtremeOutput(name="d", histogram=histogram, largest=False)
    assert outputs(q=col("age").quantile(1))[0] == ExtremeOutput(name="q", histogram=histogram, largest=True)
    (coarse,) = measures(m=col("cost").median())
    assert coarse.values == Bounds(0, 5000, step=2)


def test_candidates_are_fewer_where_groups_are_many():
    tables = {"visits": visits([], limits=Limits(rows=1), columns=COLUMNS | {"ward": Keys(range(90_000))})}
    (measure,) = bind(VISITS.group_by("ward").agg(q=col("cost").min()), tables).plan.measures
    assert measure.width <= 10**7 // 90_000
    few = {
        "visits": visits(
            [],
            limits=Limits(rows=1),
            columns=COLUMNS | {"ward": Keys(range(10**6)), "city": Keys(list("abcdefghijk"))},
        )
    }
    with pytest.raises(UnsupportedQuery, match=r"too many groups|counts"):
        bind(VISITS.group_by("ward", "urgent", "city").agg(q=col("cost").min()), few)


def test_the_most_frequent_are_declared_keys():
    histogram = Histogram(column="city", values=Keys(CITIES))
    assert outputs(m=col("city").mode(), t=col("city").top(3)) == (
        FrequentOutput(name="m", histogram=histogram),
        FrequentOutput(name="t", histogram=histogram, most=3),
    )
    with pytest.raises(UnsupportedQuery, match="ask for at most 3"):
        outputs(t=col("city").top(4))
    with pytest.raises(UndeclaredColumn, match="the mode of 'cost' needs keys"):
        outputs(t=col("cost").mode())


@pytest.mark.parametrize(
    "aggregate",
    [
        col("note").median(),
        col("note").min(),
        col("city").variance(),
        covariance(col("age"), col("city")),
    ],
)
def test_numbers_need_bounds(aggregate):
    with pytest.raises(UndeclaredColumn, match="needs bounds"):
        outputs(x=aggregate)


def test_dates_are_counted_from_the_first():
    with pytest.raises(UndeclaredColumn, match=r"the correlation of 'day' is not answered.*DATEDIFF"):
        outputs(x=correlation(col("day"), col("age")))


def test_weights_are_in_rows():
    """One row at the end of its bounds weighs about as much in every measure of an output."""
    for aggregate in (
        col("age").variance(),
        covariance(col("age"), col("balance")),
        correlation(col("age"), col("balance")),
    ):
        (output,) = outputs(x=aggregate)
        for measure, weight in zip(output.measures, output.weights, strict=True):
            largest = getattr(measure, "largest", 1)
            assert Fraction(1, 8) <= weight * largest <= 1
    assert outputs(x=col("age").quantile(0.9))[0].weights == (Fraction(9, 5),)


def test_identities_differ():
    found = [
        col("age").variance(), col("age").std(), col("age").variance(sample=True), col("age").median(),
        col("age").quantile(0.4), col("age").min(), col("age").max(), col("city").mode(), col("city").top(1),
        col("city").top(2), covariance(col("age"), col("balance")),
        covariance(col("age"), col("balance"), sample=True), correlation(col("age"), col("balance")),
        count(), count_persons(), col("age").count_distinct(),
    ]  # fmt: skip
    requests = {build_request(VISITS.agg(x=one), TABLES, Offer(epsilon=1)).identity for one in found}
    assert len(requests) == len(found)
    two = build_request(VISITS.agg(x=col("age").median()), TABLES, Offer(epsilon=1), confidence=0.9)
    assert two.identity not in requests


def test_each_row_may_be_a_person():
    table = Table(pyarrow.table({"x": [1, 2]}), person=EACH_ROW, columns={"x": Bounds(0, 9)})
    bound = bind(TableRequest(table="t").agg(p=count_persons(), d=col("x").count_distinct()), {"t": table})
    assert bound.plan.measures == (CountPersons(), CountDistinct(column="x"))
    assert all(one.sensitivity.l1 == 1 for one in bound.statistics.statistics)


def test_a_quotient_of_what_is_never_negative_needs_one_bound():
    """Division by 0 is NULL, so that cost / age is at least 0 wherever it is something."""
    ratio = "SELECT AVG(LEAST(cost / age, 1)) AS m FROM visits"
    (total, _) = bind(parse(ratio, TABLES), TABLES).plan.measures
    assert (total.bounds.lower, total.bounds.upper) == (0, 1)


@pytest.mark.parametrize(
    ("aggregate", "advice"),
    [
        ("AVG(cost / age)", "bound it, as in CLIP(x, 0, 100)"),
        ("AVG(LEAST(cost / balance, 1))", "bound it from below, too, as in CLIP"),
        ("AVG(cost / balance)", "bound it, as in CLIP(x, 0, 100)"),
    ],
)
def test_what_has_no_bounds_says_which_end_is_missing(aggregate, advice):
    with pytest.raises(UndeclaredColumn) as caught:
        bind(parse(f"SELECT {aggregate} AS m FROM visits", TABLES), TABLES)  # noqa: S608
    assert advice in str(caught.value)
