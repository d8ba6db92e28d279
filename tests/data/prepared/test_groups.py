"""Tables arranged for limits on groups: each query draws groups and rows again, from a person's own rows."""

from __future__ import annotations

import hashlib
import math
import random
from collections import defaultdict

import pyarrow
import pytest
from hypothesis import strategies as st
from scipy import stats

from data import oracle, strategies
from data.strategies import CITY, COST, PERSON
from data.three_engines import generated
from discreet.data import (
    Axis,
    Bounds,
    ContingencyTable,
    CountNonNull,
    CountRows,
    Filter,
    Group,
    GroupKey,
    Keys,
    Limits,
    Salt,
    Source,
    Sum,
    Table,
    col,
    compute,
    fresh_salt,
    sensitivity,
)
from discreet.data.contributions_prepared import prepared_totals
from discreet.data.engines.base import fetch
from discreet.data.language.relations import Derive, Named
from discreet.data.prepared.groups import PRIME
from discreet.data.prepared.sample import is_bounded_ahead, needs_no_bounding
from discreet.noise import replay
from effort import sizes
from significance import FALSE_ALARM

SALT = Salt(value="5a17")
SOURCE = Source(table="t")
ALL = Limits(groups=10**6, rows_per_group=10**6)
CITIES = Keys([*strategies.CITIES, None])
COSTS = Bounds(-3, 50, step=0.5, nan=1)
LEVELS = Keys(range(-128, 128))
COLUMNS = {CITY: CITIES, COST: COSTS, "level": LEVELS, "age": Bounds(0, 110)}
FILTERED = Filter(source=SOURCE, condition=(col("age") >= 20).expression)
BY_CITY = GroupKey(column=CITY, values=CITIES)
MEASURES = (
    CountRows(),
    Sum(column=COST, bounds=COSTS, center=10),
    CountNonNull(column=COST, bounds=COSTS),
    Sum(column="age", bounds=Bounds(0, 50)),
)
PLAN = Group(source=FILTERED, keys=(BY_CITY,), measures=MEASURES)
BY_TWO = Group(source=SOURCE, keys=(GroupKey(column="level", values=LEVELS), BY_CITY), measures=MEASURES)
IN_ALL = Group(source=FILTERED, measures=MEASURES)


def digest(salt, *parts):
    text = "|".join([salt.value, *(str(part) for part in parts)])
    return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:15], 16) % (PRIME - 1) + 1


def rank_of(value):
    """Where a value stands in the order of engines: values, NaN, NULL."""
    if value is None:
        return (2, 0)
    return (1, 0) if isinstance(value, float) and math.isnan(value) else (0, value)


def turns(rows, chances):
    """Each person's rows with their turns."""
    owned = defaultdict(list)
    for row in rows:
        if row[PERSON] is not None:
            owned[row[PERSON]].append(row)
    names = [name for name in strategies.SCHEMA.names if name != PERSON]
    for person, theirs in owned.items():
        chance = digest(chances, "person", person)
        theirs.sort(key=lambda row: [rank_of(row[name]) for name in names])
        turn = [(chance * digest(chances, "row", place) % PRIME, place) for place in range(len(theirs))]
        yield person, chance, list(zip(turn, theirs, strict=True))


def stays(rows, plan, limits, chances, salt):
    """The rows that stay, by the rule of the module in plain Python."""
    kept = []
    for _, chance, theirs in turns(rows, chances):
        groups = defaultdict(list)
        for turn, row in theirs:
            asked = not isinstance(plan.source, Filter) or (row["age"] is not None and row["age"] >= 20)
            if asked and all(row[key.column] in key.values.values for key in plan.keys):
                numbers = tuple(COLUMNS[key.column].values.index(row[key.column]) for key in plan.keys)
                groups[numbers].append((turn, row))
        lots = {numbers: chance * digest(salt, "group", *numbers) % PRIME for numbers in groups}
        for numbers in sorted(groups, key=lambda numbers: (lots[numbers], numbers))[: limits.groups]:
            chosen = sorted(groups[numbers], key=lambda pair: pair[0])[: limits.rows_per_group]
            kept += [row for _, row in chosen]
    return kept


def prepared(engine, rows, limits, seed=3, columns=COLUMNS):
    arrow = rows if isinstance(rows, pyarrow.Table) else strategies.arrow(rows)
    table = engine.table(arrow, person=PERSON, limits=limits, columns=columns, prepare=True)
    with replay(seed):
        table.prepare()
    return table


def salt_of(seed=3):
    with replay(seed):
        return fresh_salt()


def values(table, plan, salt=SALT):
    return [array.tolist() for array in compute(plan, {"t": table}, salt=salt).values]


def row(person, **values):
    named = {"city": CITY, "cost": COST}
    empty = dict.fromkeys(strategies.SCHEMA.names)
    return empty | {PERSON: person} | {named.get(name, name): value for name, value in values.items()}


def some_rows(count, persons, seed=5):
    random.seed(seed)
    return [
        row(
            random.randrange(persons),
            city=random.choice([*strategies.CITIES, None]),
            cost=random.choice([None, random.uniform(-5, 60)]),
            age=random.choice([None, random.randrange(90)]),
            level=random.choice([None, 1, 2]),
        )
        for _ in range(count)
    ]


@pytest.mark.few(2)
@pytest.mark.hypothesis
@pytest.mark.parametrize("plan", [PLAN, BY_TWO, IN_ALL], ids=["one key", "two keys", "no key"])
def test_what_stays_is_that_of_the_rule(engine, plan):
    @generated(
        engine,
        strategies.rows_of(strategies.persons, min_size=8, max_size=30),
        st.integers(1, 3),
        st.integers(1, 2),
    )
    def check(rows, groups, each):
        limits = Limits(groups=groups, rows_per_group=each)
        expected = oracle.compute(plan, stays(rows, plan, limits, salt_of(), SALT), PERSON, ALL, SALT)
        assert values(prepared(engine, rows, limits), plan) == expected


def test_crowded_persons_keep_what_the_rule_says(engine):
    rows = some_rows(400, 5)
    for limits in (Limits(groups=2, rows_per_group=3), Limits(groups=10, rows_per_group=7)):
        table = prepared(engine, rows, limits)
        for plan in (PLAN, BY_TWO, IN_ALL):
            expected = oracle.compute(plan, stays(rows, plan, limits, salt_of(), SALT), PERSON, ALL, SALT)
            assert prepared_totals(plan, {"t": table}, SALT) is not None
            assert values(table, plan) == expected


@pytest.mark.slow
def test_limits_are_exact(engine):
    """One person in three cities, with as many rows as the number of the city."""
    rows = [
        row(1, city=city, age=30) for size, city in enumerate(strategies.CITIES[:3], 1) for _ in range(size)
    ]
    for groups in (1, 2, 3):
        for each in (1, 2, 3):
            counts = values(prepared(engine, rows, Limits(groups=groups, rows_per_group=each)), PLAN)[0]
            assert sum(count > 0 for count in counts) == groups
            sizes = dict(zip(strategies.CITIES[:3], (1, 2, 3), strict=True))
            for city, count in zip(CITIES.values, counts, strict=True):
                assert count in {0, min(each, sizes.get(city, 0))}


def test_nobody_decides_about_the_rows_of_another(engine):
    rows, limits = some_rows(120, 4, seed=11), Limits(groups=2, rows_per_group=2)
    alone, others = ([one for one in rows if (one[PERSON] == 0) is wanted] for wanted in (True, False))
    random.shuffle(rows)
    together, theirs, rest = (values(prepared(engine, some, limits), PLAN) for some in (rows, alone, others))
    assert together == [
        [a + b for a, b in zip(*both, strict=True)] for both in zip(theirs, rest, strict=True)
    ]


@pytest.mark.parametrize("seeds", sizes(range(3), range(3, 25)))
def test_one_person_moves_statistics_within_the_sensitivity(seeds):
    limits = Limits(groups=2, rows_per_group=2)
    for seed in seeds:
        rows = some_rows(60, 3, seed=seed)
        full, less = (
            Table(strategies.arrow(some), person=PERSON, limits=limits, columns=COLUMNS, prepare=True)
            for some in (rows, [one for one in rows if one[PERSON] != 0])
        )
        for table in (full, less):
            with replay(seed):
                table.prepare()
        bound = sensitivity(PLAN, {"t": full}).joint()
        moved = [
            abs(a - b)
            for both in zip(values(full, PLAN), values(less, PLAN), strict=True)
            for a, b in zip(*both, strict=True)
        ]
        assert sum(moved) <= bound.l1
        assert sum(one * one for one in moved) <= bound.squared_l2
        assert sum(one != 0 for one in moved) <= bound.l0


@pytest.mark.statistical
def test_every_group_is_as_likely_to_stay():
    everybody = [row(person, level=level) for person in range(1200) for level in range(12)]
    table = Table(
        strategies.arrow(everybody),
        person=PERSON,
        limits=Limits(groups=3, rows_per_group=1),
        columns={"level": LEVELS},
        prepare=True,
    )
    plan = Group(source=SOURCE, keys=(GroupKey(column="level", values=LEVELS),), measures=(CountRows(),))
    counts = values(table, plan)[0][128:140]
    assert sum(counts) == 3600
    assert stats.chisquare(counts).pvalue > FALSE_ALARM
    assert values(table, plan, Salt(value="another"))[0][128:140] != counts


@pytest.mark.statistical
def test_every_row_of_a_group_is_as_likely_to_stay():
    everybody = [row(person, level=level) for person in range(1200) for level in range(12)]
    table = Table(
        strategies.arrow(everybody),
        person=PERSON,
        limits=Limits(groups=1, rows_per_group=3),
        columns={"level": LEVELS},
        prepare=True,
    )
    counts = []
    for level in range(12):
        only = Filter(source=SOURCE, condition=(col("level") == level).expression)
        counts += values(table, Group(source=only, measures=(CountRows(),)))[0]
    assert counts == [1200] * 12  # a condition comes before the limit
    levels = Bounds(0, 11)
    whole = Table(
        strategies.arrow(everybody),
        person=PERSON,
        limits=Limits(groups=1, rows_per_group=3),
        columns={"level": levels},
        prepare=True,
    )
    rows = fetch(kept_of(whole), whole._backend).to_pydict()["measure_1"]
    assert len(rows) == 3600
    assert stats.chisquare([rows.count(level) for level in range(12)]).pvalue > FALSE_ALARM


def kept_of(table):
    """The rows of a table that stay where there are no groups, with their levels."""
    rows = table._prepared.relation
    carried = {name: rows[column] for name, column in table._prepared.carried().items()}
    named = rows.select(**carried, measure_1=rows["level"])
    return table._prepared.bounded(named, 1, SALT)


def test_other_plans_are_bounded_as_on_any_table(engine):
    rows, limits = some_rows(80, 4), Limits(groups=2, rows_per_group=2)
    derived = Derive(source=SOURCE, columns=(Named(name="older", expression=(col("age") + 1).expression),))
    cells = ContingencyTable(
        axes=(Axis(column="level", values=LEVELS), Axis(column=COST, values=COSTS, width=9))
    )
    plans = [
        Group(
            source=derived,
            keys=(BY_CITY,),
            measures=(CountRows(), Sum(column="older", bounds=Bounds(1, 111))),
        ),
        Group(source=SOURCE, keys=(BY_CITY,), measures=(CountRows(), cells)),
    ]
    plain = engine.table(strategies.arrow(rows), person=PERSON, limits=limits, columns=COLUMNS)
    table = prepared(engine, rows, limits)
    for plan in plans:
        assert prepared_totals(plan, {"t": table}, SALT) is None
        assert values(table, plan) == values(plain, plan)


def test_arranging_changes_nothing_that_is_declared():
    limits = Limits(groups=2, rows_per_group=2)
    table, plain = (
        Table(strategies.arrow([]), person=PERSON, limits=limits, prepare=ahead) for ahead in (True, False)
    )
    assert table.declaration == plain.declaration
    assert repr(table).endswith("prepare=True)")
    assert not is_bounded_ahead(table)
    assert not needs_no_bounding(SOURCE, {"t": table})
    assert values(table, Group(source=SOURCE, measures=(CountRows(),))) == [[0]]


def test_names_of_columns_never_clash():
    frame = pyarrow.table(
        {
            "person": [1, 1, 1],
            "chance": [1, 2, 3],
            "lot": ["a", "b", "c"],
            "key_0": [5, 6, 6],
            "measure_0": [1, 1, 1],
            "person_chance": [0, 0, 0],
        }
    )
    columns = {"chance": Bounds(0, 9), "lot": Keys(["a", "b", "c"]), "key_0": Keys([5, 6])}
    table = Table(
        frame, person="person", limits=Limits(groups=1, rows_per_group=1), columns=columns, prepare=True
    )
    plan = Group(
        source=SOURCE,
        keys=(
            GroupKey(column="lot", values=columns["lot"]),
            GroupKey(column="key_0", values=columns["key_0"]),
        ),
        measures=(CountRows(), Sum(column="chance", bounds=columns["chance"])),
    )
    counts, sums = values(table, plan)
    assert sum(counts) == 1
    assert sum(sums) in {1, 2, 3}


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "person", ["key_0", "measure_1", "chance", "turn", "lot", "drawn", "place", "column_0"]
)
def test_the_person_may_have_any_name(person):
    frame = pyarrow.table({person: [1] * 40, "city": ["a", "b"] * 20, "cost": range(40)})
    columns = {"city": Keys(["a", "b"]), "cost": Bounds(0, 50)}
    table = Table(
        frame, person=person, limits=Limits(groups=1, rows_per_group=2), columns=columns, prepare=True
    )
    plan = Group(
        source=SOURCE,
        keys=(GroupKey(column="city", values=columns["city"]),),
        measures=(CountRows(), Sum(column="cost", bounds=columns["cost"])),
    )
    assert sorted(values(table, plan)[0]) == [0, 2]
