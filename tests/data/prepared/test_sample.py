"""Tables bounded in advance: one sample, drawn once from each person's own rows, before conditions."""

from __future__ import annotations

import hashlib
import math
import random
import threading
from collections import defaultdict

import pyarrow
import pytest
from hypothesis import strategies as st
from scipy import stats

from data import oracle, strategies
from data.strategies import CITY, COST, PERSON
from data.three_engines import generated
from discreet.data import (
    EACH_ROW,
    Axis,
    Bounds,
    ContingencyTable,
    CountNonNull,
    CountRows,
    Filter,
    Group,
    GroupKey,
    Histogram,
    Keys,
    Limits,
    Salt,
    Source,
    Sum,
    Table,
    col,
    compute,
    engine_sql,
    fresh_salt,
    sensitivity,
)
from discreet.data.contributions_prepared import prepared_totals
from discreet.data.engines import base as engine_module
from discreet.data.engines.base import fetch
from discreet.data.prepared.sample import is_bounded_ahead, needs_no_bounding
from discreet.errors import EngineFailed, ParameterError
from discreet.noise import replay
from significance import FALSE_ALARM

SALT = Salt(value="5a17")
SOURCE = Source(table="t")
ALL = Limits(rows=10**6)
CITIES, COSTS, LEVELS = (
    Keys([*strategies.CITIES, None]),
    Bounds(-3, 50, step=0.5, nan=1),
    Keys(range(-128, 128)),
)
COLUMNS = {CITY: CITIES, COST: COSTS, "level": LEVELS, "age": Bounds(0, 110)}
PLAN = Group(
    source=Filter(source=SOURCE, condition=(col("age") >= 0).expression),
    keys=(GroupKey(column=CITY, values=CITIES),),
    measures=(
        CountRows(),
        Sum(column=COST, bounds=COSTS, center=10),
        CountNonNull(column=COST, bounds=COSTS),
        Sum(column="age", bounds=Bounds(0, 50)),
        CountNonNull(column="amount"),
    ),
)


ORDERED = [COST, "amount", "seen"]
SPELLED = [name for name in strategies.SCHEMA.names if name not in {PERSON, *ORDERED}]


def rank_of(value):
    """Where a value stands in the order of engines: numbers, NaN, NULL."""
    if value is None:
        return (2, 0)
    return (1, 0) if isinstance(value, float) and math.isnan(value) else (0, value)


def drawn(rows, limit, salt):
    """The rows that stay, by the rule of the module `bounding` in plain Python."""
    owned = defaultdict(list)
    for row in rows:
        if row[PERSON] is not None:
            owned[row[PERSON]].append(row)
    kept = []
    for person, theirs in owned.items():
        alike = defaultdict(list)
        for row in theirs:
            texts = tuple(oracle.spelled(row[name]) for name in SPELLED)
            alike[texts].append(row)
        lots = []
        for texts, group in alike.items():
            group.sort(key=lambda row: [rank_of(row[name]) for name in ORDERED])
            for number, row in enumerate(group):
                text = f"{salt.value}|row|{number}|{''.join(texts)}{person}"
                lots.append((hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:15], row))
        lots.sort(key=lambda lot: lot[0])
        kept += [row for _, row in lots[:limit]]
    return kept


def prepared(engine, rows, limit=2, columns=COLUMNS, seed=3):
    arrow = rows if isinstance(rows, pyarrow.Table) else strategies.arrow(rows)
    table = engine.table(arrow, person=PERSON, limits=Limits(rows=limit), columns=columns, prepare=True)
    with replay(seed):
        table.prepare()
    return table


def salt_of(seed=3):
    with replay(seed):
        return fresh_salt()


def values(table, plan=PLAN):
    return [array.tolist() for array in compute(plan, {"t": table}, salt=SALT).values]


def direct(table, plan=PLAN):
    """The same through the plain GROUP BY over integers."""
    found = fetch(prepared_totals(plan, {"t": table}, SALT), table._backend)
    places = {value: place for place, value in enumerate(plan.keys[0].values.values)}
    arrays = [[0] * len(places) for _ in plan.measures]
    for one in found.to_pylist():
        for number, measure in enumerate(plan.measures):
            name = "rows" if measure == CountRows() else f"measure_{number}"
            arrays[number][places[one["key_0"]]] = one[name]
    return arrays


def row(person, **values):
    named = {"city": CITY, "cost": COST}
    empty = dict.fromkeys(strategies.SCHEMA.names)
    return empty | {PERSON: person} | {named.get(name, name): value for name, value in values.items()}


def test_the_sample_is_that_of_the_rule(engine):
    @generated(engine, strategies.rows_of(strategies.persons, min_size=8, max_size=24), st.integers(1, 3))
    def check(rows, limit):
        table = prepared(engine, rows, limit)
        expected = oracle.compute(PLAN, drawn(rows, limit, salt_of()), PERSON, ALL, SALT)
        assert values(table) == expected
        assert direct(table) == expected


def test_tables_and_histograms_are_those_of_the_sample(engine):
    table = ContingencyTable(
        axes=(Axis(column=CITY, values=CITIES), Axis(column=COST, values=COSTS, width=20))
    )
    plan = Group(
        source=PLAN.source,
        keys=(GroupKey(column="level", values=Keys([-1, 0, 1])),),
        measures=(CountRows(), table, Histogram(column=CITY, values=CITIES)),
    )
    random.seed(5)
    costs = [*strategies.FLOATS, *strategies.SPECIAL, None]
    rows = [
        row(
            random.randrange(9),
            city=random.choice(["Taipei", "elsewhere", None]),
            age=7,
            cost=random.choice(costs),
            level=random.randrange(-1, 3),
        )
        for _ in range(60)
    ]
    expected = oracle.compute(plan, drawn(rows, 3, salt_of()), PERSON, ALL, SALT)
    assert values(prepared(engine, rows, 3), plan) == expected


def test_rows_that_differ_in_a_float_alone_are_told_apart(engine):
    """Numbered by anything but their order they would be drawn by their place in the table."""
    rows = [row(person, city="Taipei", age=1, cost=cost / 2) for person in range(5) for cost in range(40)]
    random.seed(13)
    random.shuffle(rows)
    expected = oracle.compute(PLAN, drawn(rows, 7, salt_of()), PERSON, ALL, SALT)
    assert values(prepared(engine, rows, 7)) == expected


def test_a_plan_may_narrow_keys_and_bounds(engine):
    random.seed(5)
    rows = [
        row(
            number % 7,
            city=random.choice([*strategies.CITIES, None]),
            cost=random.uniform(-5, 60),
            age=number,
        )
        for number in range(60)
    ]
    table = prepared(engine, rows)
    plan = Group(
        source=SOURCE,
        keys=(GroupKey(column=CITY, values=Keys([None, "日本", "Taipei"])),),
        measures=(CountRows(), Sum(column=COST, bounds=Bounds(0, 20, step=0.5, nan=1), center=5)),
    )
    expected = oracle.compute(plan, drawn(rows, 2, salt_of()), PERSON, ALL, SALT)
    assert values(table, plan) == direct(table, plan) == expected


def test_nobody_decides_about_the_rows_of_another(engine):
    random.seed(11)
    rows = [
        row(random.randrange(5), city="Taipei", cost=random.uniform(0, 50), age=random.randrange(99))
        for _ in range(50)
    ]
    alone, others = ([one for one in rows if (one[PERSON] == 0) is wanted] for wanted in (True, False))
    random.shuffle(rows)
    together, theirs, rest = (values(prepared(engine, some)) for some in (rows, alone, others))
    assert together == [
        [a + b for a, b in zip(*both, strict=True)] for both in zip(theirs, rest, strict=True)
    ]


def test_rows_are_drawn_before_any_condition():
    """Of 50 rows of a child and 2 of the same person as an adult, 2 stay: mostly those of the child."""
    rows = [row(person, age=age) for person in range(100) for age in [3] * 50 + [20] * 2]
    adults = Group(
        source=Filter(source=SOURCE, condition=(col("age") >= 18).expression), measures=(CountRows(),)
    )
    ahead, later = (
        Table(strategies.arrow(rows), person=PERSON, limits=Limits(rows=2), prepare=ahead)
        for ahead in (True, False)
    )
    assert values(later, adults) == [[200]]
    assert 0 <= values(ahead, adults)[0][0] < 50


@pytest.mark.statistical
def test_every_row_is_as_likely_to_be_drawn():
    everybody = [row(person, level=level) for person in range(1200) for level in range(12)]
    table = Table(
        strategies.arrow(everybody),
        person=PERSON,
        limits=Limits(rows=3),
        columns={"level": LEVELS},
        prepare=True,
    )
    plan = Group(source=SOURCE, keys=(GroupKey(column="level", values=LEVELS),), measures=(CountRows(),))
    assert stats.chisquare(values(table, plan)[0][128:140]).pvalue > FALSE_ALARM


def test_another_table_draws_another_sample():
    rows = [row(1, level=level) for level in range(100)]
    plan = Group(source=SOURCE, keys=(GroupKey(column="level", values=LEVELS),), measures=(CountRows(),))
    samples = set()
    for _ in range(5):
        table = Table(
            strategies.arrow(rows),
            person=PERSON,
            limits=Limits(rows=3),
            columns={"level": LEVELS},
            prepare=True,
        )
        samples.add(tuple(values(table, plan)[0]))
        assert tuple(values(table, plan)[0]) in samples
    assert len(samples) == 5


def test_the_sample_is_drawn_once_and_by_the_first_answer(monkeypatch):
    table = Table(
        strategies.arrow([row(1, age=1)] * 5),
        person=PERSON,
        limits=Limits(rows=2),
        columns=COLUMNS,
        prepare=True,
    )
    kept = []
    keep = engine_module.keep
    monkeypatch.setattr(
        "discreet.data.prepared.base.keep", lambda *arguments: (kept.append(1), keep(*arguments))
    )
    sensitivity(PLAN, {"t": table})
    engine_sql(PLAN, {"t": table})
    assert not kept
    plan = Group(source=SOURCE, measures=(CountRows(),))
    found = []
    threads = [threading.Thread(target=lambda: found.append(values(table, plan))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[[2]]] * 8
    assert kept == [1]


def test_a_sample_that_could_not_be_drawn_is_drawn_again(monkeypatch):
    table = Table(strategies.arrow([row(1)] * 5), person=PERSON, limits=Limits(rows=2), prepare=True)
    plan = Group(source=SOURCE, measures=(CountRows(),))
    with monkeypatch.context() as broken:
        broken.setattr("discreet.data.engines.duckdb.store_table", lambda *_: 1 / 0)
        with pytest.raises(EngineFailed) as failure:
            values(table, plan)
        assert failure.value.__context__ is None
    assert values(table, plan) == [[2]]


def test_what_is_declared_says_that_bounding_comes_first():
    table, plain = (
        Table(strategies.arrow([]), person=PERSON, limits=Limits(rows=2), prepare=ahead)
        for ahead in (True, False)
    )
    assert table.declaration["bounded"] == "before conditions"
    assert "bounded" not in plain.declaration
    assert repr(table).endswith("prepare=True)")
    assert is_bounded_ahead(table)
    assert not is_bounded_ahead(plain)
    assert needs_no_bounding(PLAN.source, {"t": table})
    assert not needs_no_bounding(PLAN.source, {"t": plain})
    with pytest.raises(ParameterError, match="prepare=True"):
        plain.prepare()


def test_rows_behind_a_permit_are_all_rows():
    table = Table(strategies.arrow([row(1)] * 5), person=PERSON, limits=Limits(rows=2), prepare=True)
    assert table._rows().num_rows == 5


@pytest.mark.parametrize(
    "options",
    [
        {"person": EACH_ROW, "prepare": True},
        {"person": PERSON, "limits": Limits(rows=1), "prepare": 1},
    ],
)
def test_only_tables_with_limits_can_be_prepared(options):
    with pytest.raises(ParameterError) as refusal:
        Table(strategies.arrow([]), **options)
    assert refusal.value.parameter == "prepare"


def test_names_of_columns_never_clash():
    frame = pyarrow.table(
        {
            "id": [1, 1],
            "integer_0": [1, 2],
            "integer_1": [3, 4],
            "number": [5, 6],
            "value": ["a", "b"],
            "listed_value": [1, 1],
        }
    )
    columns = {"integer_0": Bounds(0, 9), "number": Keys([5, 6]), "value": Keys(["a", "b"])}
    table = Table(frame, person="id", limits=Limits(rows=2), columns=columns, prepare=True)
    plan = Group(
        source=Filter(source=SOURCE, condition=(col("integer_1") == 4).expression),
        keys=(
            GroupKey(column="value", values=Keys(["a", "b"])),
            GroupKey(column="number", values=Keys([5, 6])),
        ),
        measures=(Sum(column="integer_0", bounds=Bounds(0, 9)),),
    )
    assert values(table, plan) == [[0, 0, 0, 2]]
    found = fetch(prepared_totals(plan, {"t": table}, SALT), table._backend).to_pylist()
    assert found == [{"rows": 1, "measure_0": 2, "key_0": "b", "key_1": 6}]


def test_values_that_requests_do_not_know_can_be_asked_for_null():
    frame = pyarrow.table({"id": [1, 1, 2], "tags": [[1], None, [2]]})
    table = Table(frame, person="id", limits=Limits(rows=1), prepare=True)
    plan = Group(
        source=Filter(source=SOURCE, condition=(~col("tags").is_null()).expression), measures=(CountRows(),)
    )
    assert values(table, plan)[0][0] in {1, 2}
