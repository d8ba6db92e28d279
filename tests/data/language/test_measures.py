"""Every measure agrees with a slow oracle, and no person moves any of them by more than was declared."""

from __future__ import annotations

import datetime
from itertools import chain

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import oracle, strategies
from data.strategies import CITY, COST, DAYS, PERSON, SCHEMA, declared
from data.test_statistics import changes, exact, row, within
from discreet.data import (
    Axis,
    Bounds,
    ContingencyTable,
    CountDistinct,
    CountNonNull,
    CountPersons,
    CountRows,
    Factor,
    Group,
    GroupKey,
    Histogram,
    Keys,
    Limits,
    Moment,
    Salt,
    Source,
    Sum,
    Table,
    compute,
    sensitivity,
)
from discreet.data.language.coarsening import coarsened, is_coarsened, steps_at_most
from discreet.data.language.measures import LARGEST_TERM, adds_up
from discreet.errors import ParameterError, UndeclaredColumn, UnsupportedQuery
from effort import examples

SALT = Salt(value="5a17")
SOURCE = Source(table="t")
CITIES = Keys(["Taipei", "O'Hare", None])
LEVELS = Bounds(-4, 6, step=2)
COSTS = Bounds(-3, 50, step=0.5, nan=0)
COLUMNS = {CITY: CITIES, "level": LEVELS, COST: COSTS, "flag": Keys([True, False])}


def factor(column, power, center=0):
    return Factor(column=column, bounds=COLUMNS[column], power=power, center=center)


def axis(column, width=1):
    return Axis(column=column, values=COLUMNS[column], width=width)


MEASURES = [
    CountRows(),
    CountPersons(),
    CountDistinct(column=CITY),
    CountDistinct(column="level"),
    CountDistinct(column="day"),
    CountDistinct(column="flag"),
    CountNonNull(column="age"),
    Sum(column="level", bounds=LEVELS, center=2),
    Moment(factors=(factor("level", 2, 2),), shift=2),
    Moment(factors=(factor("level", 1, 2), factor(COST, 1, 10))),
    Moment(factors=(factor("level", 0), factor(COST, 1, 10))),
    Moment(factors=(factor("level", 2, 2), factor(COST, 0)), shift=2),
    Moment(factors=(factor("level", 0), factor(COST, 0))),
    Histogram(column="level", values=LEVELS),
    Histogram(column=CITY, values=CITIES),
    Histogram(column=CITY, values=Keys(["O'Hare", "Taipei"])),
    Histogram(column="flag", values=COLUMNS["flag"]),
    ContingencyTable(axes=(axis("level", 4),)),
    ContingencyTable(axes=(axis(CITY), axis("level", 4), axis("flag"))),
    ContingencyTable(axes=(axis(COST, 25), axis("level", 100))),
    ContingencyTable(axes=(axis("level"), Axis(column=CITY, values=Keys([None, "O'Hare"])))),
]
GROUPED = {CITY: CITIES, "flag": COLUMNS["flag"]}


@st.composite
def plans(draw):
    measures = draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=4, unique=True))
    if all(adds_up(measure) for measure in measures):
        measures.append(CountPersons())
    keys = draw(st.lists(st.sampled_from([*GROUPED]), unique=True, max_size=2))
    return Group(
        source=SOURCE,
        keys=tuple(GroupKey(column=name, values=GROUPED[name]) for name in keys),
        measures=tuple(measures),
    )


@settings(max_examples=examples(25))
@given(
    plans(),
    strategies.rows_of(strategies.persons, min_size=6, max_size=16),
    strategies.limits,
    strategies.salts,
)
def test_measures_are_those_of_the_oracle(plan, rows, limits, salt):
    found = exact(plan, rows, COLUMNS, limits, salt)
    assert [array.tolist() for array in found.values] == oracle.compute(plan, rows, PERSON, limits, salt)
    assert [len(array) for array in found.values] == [plan.size(measure) for measure in plan.measures]


@settings(max_examples=examples(10))
@given(plans(), strategies.rows_of(strategies.persons, max_size=10))
def test_each_row_may_be_a_person(plan, rows):
    found = exact(plan, rows, COLUMNS, None)
    assert [array.tolist() for array in found.values] == oracle.compute(plan, rows, None, None, SALT)
    if CountPersons() in plan.measures and CountRows() in plan.measures:
        assert (found[CountPersons()] == found[CountRows()]).all()


@settings(max_examples=examples(20))
@given(
    plans(),
    strategies.rows_of(strategies.persons, max_size=6),
    strategies.rows_of(st.just(99), min_size=1, max_size=9),
    strategies.limits,
    strategies.salts,
)
def test_one_person_moves_measures_within_the_sensitivity(plan, rows, theirs, limits, salt):
    without, with_them = (exact(plan, both, COLUMNS, limits, salt) for both in (rows, rows + theirs))
    moved = changes(without, with_them)
    for change, statistic in zip(moved, without.statistics.statistics, strict=True):
        assert within(change, statistic.sensitivity)
    assert within([*chain(*moved)], without.statistics.joint())


ALL = Group(source=SOURCE, keys=(GroupKey(column="flag", values=COLUMNS["flag"]),), measures=tuple(MEASURES))
EXTREME = {
    "as far up as can be": {"level": 6, "cost": 1e9},
    "as far down as can be": {"level": -4, "cost": -1e9},
    "only the first": {"level": 6, "cost": None},
    "only the second": {"level": None, "cost": 1e9},
    "neither": {"level": None, "cost": None},
}


@pytest.mark.few(2)
@pytest.mark.parametrize("values", EXTREME.values(), ids=EXTREME)
@pytest.mark.parametrize(
    "limits", [Limits(rows=5), Limits(groups=2, rows_per_group=3)], ids=["rows", "groups"]
)
def test_adversarial_persons_keep_to_the_sensitivity(limits, values):
    """Many rows at the ends of the bounds, every city, day and group; what is absent must add nothing."""
    theirs = [
        row(7, city=city, flag=flag, day=day, age=number, **values)
        for flag in (True, False)
        for city in ("Taipei", "O'Hare", None)
        for day in DAYS
        for number in range(3)
    ]
    others = [row(1, city="Taipei", flag=True, level=2, cost=3.0)]
    before, after = (exact(ALL, rows, COLUMNS, limits) for rows in (others, others + theirs))
    for change, statistic in zip(changes(before, after), after.statistics.statistics, strict=True):
        assert within(change, statistic.sensitivity)
        if isinstance(statistic.measure, Moment) and None in values.values():
            present = statistic.measure.factors[0].column == "level" and len(statistic.measure.factors) == 1
            assert present or not any(change)


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "limits", [Limits(rows=4), Limits(groups=2, rows_per_group=2)], ids=["rows", "groups"]
)
@pytest.mark.parametrize(
    ("measure", "spread"),
    [
        (CountPersons(), True),
        (CountDistinct(column="day"), False),
        (Histogram(column=CITY, values=CITIES), False),
        (ContingencyTable(axes=(axis(CITY), axis("level", 4))), False),
        (MEASURES[8], False),
        (MEASURES[9], False),
        (MEASURES[10], False),
        (MEASURES[12], False),
    ],
)
def test_the_sensitivity_of_each_measure_is_attained(measure, spread, limits):
    plan = Group(source=SOURCE, keys=ALL.keys, measures=(measure,))
    flags = [True, False] if spread or limits.groups else [True]
    theirs = [
        row(7, city="Taipei", flag=flag, day=datetime.date(2000, 1, 1 + number), level=-4, cost=1e9)
        for flag in flags
        for number in range(9)
    ]
    allowed = COLUMNS | {"day": Keys([datetime.date(2000, 1, 1 + number) for number in range(9)])}
    before, after = (exact(plan, rows, allowed, limits) for rows in ([], theirs))
    (change,), bound = changes(before, after), after.statistics.statistics[0].sensitivity
    assert sum(change) == bound.l1
    assert max(change) == bound.linf
    assert sum(entry**2 for entry in change) == bound.squared_l2


def test_the_groups_of_a_limit_are_those_of_the_keys_not_of_the_bins():
    """A person in one group, with every level: all of his rows there stay, up to the limit."""
    binned = [Histogram(column="level", values=LEVELS), ContingencyTable(axes=(axis("level"),))]
    plan = Group(source=SOURCE, keys=(GroupKey(column=CITY, values=CITIES),), measures=tuple(binned))
    theirs = [row(1, city="Taipei", level=level) for level in (-4, -2, 0, 2, 4, 6)]
    found = exact(plan, theirs, COLUMNS, Limits(groups=1, rows_per_group=6))
    assert [found[one].tolist() for one in binned] == [[1] * 6 + [0] * 12] * 2


@settings(max_examples=examples(10))
@given(strategies.salts)
def test_all_measures_see_one_sample(salt):
    """The histogram of levels adds up to their count and sum, whatever the sample is, and so do tables."""
    histogram = Histogram(column="level", values=LEVELS)
    total = Sum(column="level", bounds=LEVELS)
    table = ContingencyTable(axes=(axis("level"), axis("flag")))
    wide = ContingencyTable(axes=(axis("flag"), axis("level", 4)))
    plan = Group(
        source=SOURCE,
        measures=(table, histogram, total, CountRows(), CountDistinct(column="level"), wide),
    )
    levels = [-4, -2, 0, 0, 2, 4, 6, 6]
    rows = [row(person, level=level, flag=level > 1) for person in range(4) for level in levels]
    found = exact(plan, rows, COLUMNS, Limits(rows=3), salt)
    assert found[histogram] @ np.arange(-2, 4) == found[total][0]
    assert found[histogram].sum() == found[CountRows()][0] == 12
    assert (found[histogram] > 0).sum() == found[CountDistinct(column="level")][0]
    assert found[table].tolist() == [
        int(many) * (level > 1) if flag else int(many) * (level <= 1)
        for level, many in zip(range(-4, 7, 2), found[histogram], strict=True)
        for flag in (True, False)
    ]
    assert found[wide].reshape(2, 2).sum(0).tolist() == [
        found[histogram][:4].sum(),
        found[histogram][4:].sum(),
    ]


def test_everything_is_one_statement(monkeypatch):
    """One statement sees one state of the data, whatever changes meanwhile."""
    from discreet.data.engines import base as engine

    calls = []
    fetch = engine.fetch
    monkeypatch.setattr(engine, "fetch", lambda *args: calls.append(args) or fetch(*args))
    exact(ALL, [row(1, flag=True, level=2)], COLUMNS, Limits(rows=3))
    assert len(calls) == 1


def test_measures_that_add_up_keep_no_rows(monkeypatch):
    from discreet.data import contributions

    monkeypatch.setattr(contributions, "limit_rows", lambda *_: pytest.fail("rows were kept one by one"))
    plan = Group(source=SOURCE, measures=tuple(measure for measure in MEASURES if adds_up(measure)))
    assert exact(plan, [row(1, level=2)], COLUMNS, Limits(rows=3))[CountRows()].tolist() == [1]


@pytest.mark.parametrize(
    ("values", "distinct"),
    [
        ([0.0, -0.0, 1.5, None], 2),
        ([float("nan"), -float("nan"), None], 1),
        ([float("inf"), -float("inf"), 1e300], 3),
        ([], 0),
    ],
)
def test_distinct_floats_are_those_that_compare_unequal(values, distinct):
    measure = CountDistinct(column=COST)
    plan = Group(source=SOURCE, measures=(measure,))
    rows = [row(1, cost=value) for value in values]
    for limits in (Limits(rows=9), None):
        assert exact(plan, rows, COLUMNS, limits)[measure].tolist() == [distinct]


@settings(max_examples=examples(6))
@given(strategies.salts, st.permutations([0.0, -0.0, -0.0, 0.0, 1.5]))
def test_two_spellings_of_zero_share_their_lots(salt, costs):
    """Were they spelled apart, the engine's order of rows would decide who stays."""
    plan = Group(
        source=SOURCE,
        keys=(GroupKey(column=CITY, values=CITIES),),
        measures=(CountDistinct(column=COST), CountPersons()),
    )
    found = {
        exact(plan, rows, COLUMNS, Limits(rows=2), salt)[CountDistinct(column=COST)].tolist()[0]
        for rows in (
            [row(1, city="Taipei", cost=cost) for cost in order]
            for order in (costs, costs[::-1], sorted(costs))
        )
    }
    assert len(found) == 1


def test_distinct_values_of_an_unknown_type_are_refused():
    frame = pyarrow.table({"p": [1], "tags": [["a"]]})
    table = Table(frame, person="p", limits=Limits(rows=1))
    plan = Group(source=SOURCE, measures=(CountDistinct(column="tags"),))
    with pytest.raises(UnsupportedQuery, match="unknown"):
        sensitivity(plan, {"t": table})


def test_products_that_64_bits_do_not_hold_are_refused():
    wide = Bounds(-(2**27), 2**27)
    with pytest.raises(UnsupportedQuery, match="too large"):
        Moment(factors=(Factor(column="a", bounds=wide), Factor(column="b", bounds=wide, power=2)))
    largest = Moment(factors=(Factor(column="a", bounds=Bounds(-(2**26), 2**26), power=2),), shift=2**51)
    assert largest.largest <= LARGEST_TERM


def test_the_largest_products_are_exact():
    edge = Bounds(-(2**26), 2**26)
    measure = Moment(
        factors=(Factor(column="age", bounds=edge), Factor(column="level", bounds=Bounds(-128, 127)))
    )
    square = Moment(factors=(Factor(column="age", bounds=edge, power=2),), shift=2**51)
    plan = Group(source=SOURCE, measures=(measure, square))
    rows = [row(person, age=-(2**63), level=-128) for person in range(3000)]
    found = exact(plan, rows, {"age": edge, "level": Bounds(-128, 127)}, Limits(rows=1))
    assert found[measure].tolist() == [3000 * 2**33]
    assert found[square].tolist() == [min(3000 * 2**51, 2**62)]


def test_coarser_grids():
    cents = Bounds(1, 5000, step=0.01, null=7, nan=8)
    dimes = coarsened(cents, 20)
    assert (dimes.lower, dimes.upper, float(dimes.step)) == (1, 5000, 0.2)
    assert is_coarsened(dimes, cents)
    assert is_coarsened(cents, cents)
    assert not is_coarsened(Bounds(0, 5000, step=0.2, null=7, nan=8), cents)
    assert not is_coarsened(Bounds(1, 5000, step=0.2, nan=8), cents)
    assert not is_coarsened(Bounds(1, 5000, step="1/300", null=7, nan=8), cents)
    odd = coarsened(Bounds(-7, 18, null=4), 5)
    assert (odd.lower, odd.upper, odd.null) == (-10, 20, 5)
    few = steps_at_most(Bounds(0, 5000, step=0.01), 4095)
    assert (few.step, few.upper_steps) == (2, 2500)
    assert steps_at_most(Bounds(0, 110), 4095) == Bounds(0, 110)
    assert steps_at_most(Bounds(-(2**52), 2**52), 2).upper_steps <= 2


@settings(max_examples=examples(50))
@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9), st.integers(2, 5000))
def test_coarsened_bounds_hold_the_declared_ones(lower, width, most):
    bounds = Bounds(lower, lower + width, null=lower, nan=lower + width)
    coarser = steps_at_most(bounds, most)
    assert coarser.lower <= bounds.lower
    assert bounds.upper <= coarser.upper
    assert coarser.upper_steps - coarser.lower_steps <= most
    assert is_coarsened(coarser, bounds)


def test_a_plan_may_coarsen_bounds_in_no_other_way():
    table = declared([], COLUMNS, Limits(rows=2))
    good = Histogram(column="level", values=coarsened(LEVELS, 5))
    assert good.values.lower == -10
    coarse = ContingencyTable(axes=(axis(CITY), Axis(column="level", values=good.values, width=2)))
    assert sensitivity(Group(source=SOURCE, measures=(good, coarse)), {"t": table}).of(coarse)
    for values in (Bounds(-4, 6, step=1), Bounds(-20, 10, step=10), Bounds(-10, 10, step=10, null=0)):
        for measure in (
            Histogram(column="level", values=values),
            ContingencyTable(axes=(axis(CITY), Axis(column="level", values=values, width=3))),
        ):
            with pytest.raises(UndeclaredColumn):
                sensitivity(Group(source=SOURCE, measures=(measure,)), {"t": table})


def test_a_key_that_was_not_declared_has_no_bin():
    oslo = Keys(["Oslo"])
    for measure in (
        Histogram(column=CITY, values=oslo),
        ContingencyTable(axes=(axis("level"), Axis(column=CITY, values=oslo))),
    ):
        plan = Group(source=SOURCE, measures=(measure,))
        with pytest.raises(UndeclaredColumn):
            sensitivity(plan, {"t": declared([], COLUMNS, Limits(rows=2))})
    numbers = ContingencyTable(axes=(Axis(column="day", values=Keys([1])),))
    with pytest.raises(UnsupportedQuery, match="keys of its own type"):
        sensitivity(Group(source=SOURCE, measures=(numbers,)), {"t": declared([], COLUMNS, Limits(rows=2))})
    with pytest.raises(ParameterError):
        exact(ALL, [], COLUMNS, Limits(rows=1))[Histogram(column=CITY, values=Keys(["Oslo"]))]


def test_every_engine_computes_the_same(engine):
    """Measures whose contents are spelled alike everywhere, so that even the samples agree."""
    rows = [
        row(person, city=city, flag=flag, level=level, cost=level / 4, age=level, day=DAYS[level % 4])
        for person in range(5)
        for city in ("Taipei", "O'Hare", None, "elsewhere")
        for flag in (True, None)
        for level in range(-4, 5)
    ]
    arrow = strategies.arrow(rows).cast(SCHEMA)
    for limits in (Limits(rows=7), Limits(groups=1, rows_per_group=4)):
        table = engine.table(arrow, person=PERSON, limits=limits, columns=COLUMNS)
        plan = Group(source=SOURCE, keys=(GroupKey(column=CITY, values=CITIES),), measures=tuple(MEASURES))
        found = compute(plan, {"t": table}, salt=SALT)
        assert [array.tolist() for array in found.values] == oracle.compute(plan, rows, PERSON, limits, SALT)
