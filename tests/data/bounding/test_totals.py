"""What stays of a person's rows: at most the limit, chosen fairly, from that person's rows alone."""

from __future__ import annotations

from collections import Counter

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from data import strategies
from data.strategies import PERSON, declared
from discreet.data import (
    Bounds,
    CountRows,
    Group,
    GroupKey,
    Keys,
    Limits,
    Salt,
    Source,
    Sum,
    Table,
    compute,
    fresh_salt,
)
from effort import examples
from significance import FALSE_ALARM

AGES = Bounds(0, 110)
LEVELS = Keys(range(-128, 128))
PLAN = Group(
    source=Source(table="t"),
    keys=(GroupKey(column="level", values=LEVELS),),
    measures=(CountRows(), Sum(column="age", bounds=AGES)),
)
COLUMNS = {"age": AGES, "level": LEVELS}


def rows(persons, **values):
    """Rows of the given persons, over lists of values of equal length."""
    empty = dict.fromkeys(strategies.SCHEMA.names)
    listed = [dict(zip(values, one, strict=True)) for one in zip(*values.values(), strict=True)]
    return [empty | {PERSON: person} | one for person in persons for one in listed]


def counts(table, salt):
    return compute(PLAN, {"t": table}, salt=salt)[CountRows()]


@settings(max_examples=examples(25))
@given(
    strategies.rows_of(st.integers(0, 2), max_size=12),
    strategies.limits,
    strategies.salts,
)
def test_no_more_than_the_limit_stays_and_no_less_than_there_is(generated, limits, salt):
    kept = counts(declared(generated, COLUMNS, limits), salt)
    owned = Counter((row[PERSON], row["level"]) for row in generated if row["level"] is not None)
    expected = 0
    for person in range(3):
        sizes = [size for (owner, _), size in owned.items() if owner == person]
        if limits.rows is not None:
            expected += min(limits.rows, sum(sizes))
        elif len(sizes) <= limits.groups:
            expected += sum(min(limits.rows_per_group, size) for size in sizes)
    if limits.rows is not None or all(
        sum(owner == person for owner, _ in owned) <= limits.groups for person in range(3)
    ):
        assert kept.sum() == expected
    else:
        assert kept.sum() <= 3 * limits.groups * limits.rows_per_group
        assert kept.max() <= 3 * limits.rows_per_group


@settings(max_examples=examples(25))
@given(
    strategies.rows_of(st.integers(0, 2), max_size=10),
    strategies.rows_of(st.integers(3, 5), max_size=10),
    strategies.limits,
    strategies.salts,
)
def test_what_stays_of_one_person_depends_on_nobody_else(some, others, limits, salt):
    together, alone, rest = (
        compute(PLAN, {"t": declared(rows, COLUMNS, limits)}, salt=salt)
        for rows in (some + others, some, others)
    )
    for measure in PLAN.measures:
        assert (together[measure] == alone[measure] + rest[measure]).all()


@pytest.mark.parametrize("limits", [Limits(rows=3), Limits(groups=3, rows_per_group=1)])
def test_persons_with_equal_rows_keep_different_ones(limits):
    """With the person left out of the digest all would keep the same three of twenty levels."""
    everybody = rows(range(40), level=range(20), age=[1] * 20)
    kept = counts(declared(everybody, COLUMNS, limits), Salt(value="aa"))
    assert kept.sum() == 120
    assert (kept > 0).sum() > 15
    assert kept.max() < 25


@pytest.mark.parametrize("limits", [Limits(rows=3), Limits(groups=3, rows_per_group=1)])
def test_another_salt_keeps_other_rows(limits):
    table = declared(rows([1], level=range(20), age=[1] * 20), COLUMNS, limits)
    samples = {tuple(counts(table, Salt(value=f"{salt:032x}"))) for salt in range(10)}
    assert len(samples) > 7


@pytest.mark.statistical
@pytest.mark.parametrize("limits", [Limits(rows=3), Limits(groups=3, rows_per_group=1)])
def test_every_row_is_as_likely_to_stay(limits):
    """1200 persons, each with the same 12 rows of one level each, keep 3: 300 times each level, if fair.

    A person's three are drawn without replacement, which makes the statistic smaller than chi-squared.
    """

    everybody = rows(range(1200), level=range(12), age=[1] * 12)
    kept = counts(declared(everybody, COLUMNS, limits), fresh_salt())[128:140]
    assert stats.chisquare(kept).pvalue > FALSE_ALARM


@pytest.mark.statistical
def test_repeated_rows_are_as_likely_to_stay_as_others():
    """Of 3 equal rows and 1 other, one stays: the other for a quarter of 2000 persons."""

    everybody = rows(range(2000), level=[0, 0, 0, 1], age=[1] * 4)
    kept = counts(declared(everybody, COLUMNS, Limits(rows=1)), fresh_salt())
    assert stats.binomtest(int(kept[129]), 2000, 1 / 4).pvalue > FALSE_ALARM


def test_persons_of_text_are_told_apart_to_the_letter():
    names = ["Ada", "ada", "Ada ", "A\u030ada", "Åda", "", "'", '"', None, "x" * 10_000]
    table = pyarrow.table({"name": names * 3, "level": [1] * 30})
    made = Table(table, person="name", limits=Limits(rows=2), columns={"level": Keys([1])})
    plan = Group(
        source=Source(table="t"), keys=(GroupKey(column="level", values=Keys([1])),), measures=(CountRows(),)
    )
    assert compute(plan, {"t": made}, salt=Salt(value="0"))[CountRows()].tolist() == [2 * 9]


@pytest.mark.parametrize("limits", [Limits(rows=3), Limits(groups=2, rows_per_group=3)])
def test_limits_are_exact_around_their_edge(limits):
    """Person p has p rows in one group: as many stay as there are, and 3 where there are more."""
    owned = [row for person in range(7) for row in rows([person], level=[person] * person, age=[1] * person)]
    kept = counts(declared(owned, COLUMNS, limits), Salt(value="0"))
    assert kept[128:135].tolist() == [0, 1, 2, 3, 3, 3, 3]


def test_the_limit_on_groups_is_exact_around_its_edge():
    """Person p has two rows in each of p groups: rows of 2 groups stay, or all."""
    for person in range(5):
        owned = rows([person], level=[*range(person)] * 2, age=[1] * 2 * person)
        kept = counts(declared(owned, COLUMNS, Limits(groups=2, rows_per_group=2)), Salt(value="0"))
        assert (kept > 0).sum() == min(person, 2)
        assert kept.sum() == 2 * min(person, 2)
