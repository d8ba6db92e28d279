"""What each person moves, against computing every plan again without them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from discreet.data import (
    EACH_ROW,
    Axis,
    Bounds,
    ContingencyTable,
    CountDistinct,
    CountNonNull,
    CountPersons,
    CountRows,
    Factor,
    Filter,
    Group,
    GroupKey,
    Histogram,
    Keys,
    Limits,
    Moment,
    Source,
    Sum,
    Table,
    compute,
    fresh_salt,
)
from discreet.data.language.expressions import Column, Compare, literal
from discreet.data.language.relations import PerPerson, Personal, PersonalFunction
from discreet.data.person_shifts import person_shifts
from discreet.errors import ParameterError

CITIES, COST = Keys(["a", "b", "c"]), Bounds(-4, 10, step=1)
FRAME = pd.DataFrame(
    {
        "who": ["p", "p", "p", "q", "r", "r", "s", "s", "s", "s", None],
        "city": ["a", "a", "b", "b", "c", "x", "a", "b", "c", "c", "a"],
        "cost": [3.0, 12.0, -9.0, None, 0.0, 5.0, 1.0, 1.0, -1.0, 2.0, 4.0],
    }
)
MEASURES = (
    CountRows(),
    CountPersons(),
    CountNonNull(column="cost"),
    Sum(column="cost", bounds=COST, center=3),
    Moment(factors=(Factor(column="cost", bounds=COST, power=2),), shift=7),
    Histogram(column="cost", values=COST),
    Histogram(column="city", values=Keys(["a", "c"])),
    ContingencyTable(axes=(Axis(column="city", values=CITIES), Axis(column="cost", values=COST))),
)
CHEAP = Filter(
    source=Source(table="visits"),
    condition=Compare(operator="<", left=Column(name="cost"), right=literal(5)),
)


def table(frame: pd.DataFrame, limits: Limits) -> dict[str, Table]:
    return {"visits": Table(frame, person="who", columns={"city": CITIES, "cost": COST}, limits=limits)}


def differences(plan, limits) -> dict[str, list[list[int]]]:
    """The magnitudes by which every measure moves when each person is taken out, by computing it again."""
    salt = fresh_salt()
    there = compute(plan, table(FRAME, limits), salt=salt)
    found = {}
    for person in "pqrs":
        gone = compute(plan, table(FRAME[FRAME["who"] != person], limits), salt=salt)
        found[person] = [
            sorted(int(step) for step in np.abs(one - other) if step)
            for one, other in zip(there.values, gone.values, strict=True)
        ]
    return found


BY_CITY = (GroupKey(column="city", values=CITIES),)


@pytest.mark.parametrize(
    ("keys", "source", "limits"),
    [
        (BY_CITY, CHEAP, Limits(rows=10)),
        ((), Source(table="visits"), Limits(rows=10)),
        pytest.param(
            BY_CITY, Source(table="visits"), Limits(groups=3, rows_per_group=4), marks=pytest.mark.slow
        ),
        pytest.param((), Source(table="visits"), Limits(groups=3, rows_per_group=4), marks=pytest.mark.slow),
    ],
)
def test_shifts_are_what_removing_each_person_changes(keys, source, limits):
    plan = Group(source=source, keys=keys, measures=MEASURES)
    found = person_shifts(plan, table(FRAME, limits)).moved
    expected = differences(plan, limits)
    assert set(found) <= set(expected)
    for person, changes in expected.items():
        shifts = found.get(person, ((),) * len(MEASURES))
        assert [list(shift) for shift in shifts] == changes


def test_what_the_limits_may_cut_is_unknown():
    plan = Group(source=Source(table="visits"), keys=(), measures=(CountRows(),))
    found = person_shifts(plan, table(FRAME, Limits(rows=3))).moved
    assert found == {"p": ((3,),), "q": ((1,),), "r": ((2,),), "s": (None,)}
    by_city = Group(
        source=Source(table="visits"),
        keys=(GroupKey(column="city", values=CITIES),),
        measures=(CountRows(),),
    )
    crowded = person_shifts(by_city, table(FRAME, Limits(groups=3, rows_per_group=1))).moved
    assert crowded["p"] == (None,)
    assert crowded["r"] == ((1,),)
    wide = person_shifts(by_city, table(FRAME, Limits(groups=1, rows_per_group=5))).moved
    assert wide["p"] == wide["s"] == (None,)


def test_measures_of_distinct_values_depend_on_others():
    plan = Group(source=Source(table="visits"), keys=(), measures=(CountDistinct(column="city"), CountRows()))
    found = person_shifts(plan, table(FRAME, Limits(rows=10))).moved
    assert {shifts[0] for shifts in found.values()} == {None}
    assert Counter(shifts[1] for shifts in found.values()) == Counter([(3,), (1,), (2,), (4,)])


def test_relations_of_several_rows_are_unknown():
    counted = PerPerson(
        source=Source(table="visits"), columns=(Personal(name="n", function=PersonalFunction.COUNT),)
    )
    plan = Group(source=counted, keys=(), measures=(CountRows(),))
    assert person_shifts(plan, table(FRAME, Limits(rows=10))) is None


def test_rows_without_a_person_s_name_are_refused():
    rows = {"visits": Table(FRAME.drop(columns="who"), person=EACH_ROW, columns={"cost": COST})}
    plan = Group(source=Source(table="visits"), keys=(), measures=(CountRows(),))
    with pytest.raises(ParameterError, match="without a name"):
        person_shifts(plan, rows)


def test_nothing_private_is_shown():
    plan = Group(source=Source(table="visits"), keys=(), measures=(CountRows(),))
    assert repr(person_shifts(plan, table(FRAME, Limits(rows=10)))) == "PersonShifts()"
