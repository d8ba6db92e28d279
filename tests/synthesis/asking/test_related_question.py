"""Related tables of a curator: how far one person moves what is counted, and who is counted."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pyarrow
import pytest

import discreet as dp
from data.conftest import engine, postgres, postgres_engine, spark_engine  # noqa: F401
from discreet.data import Limits, Salt, Source, compute
from discreet.errors import ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.noise import replay
from discreet.privacy.offer import Offer
from discreet.synthesis.asking.related_question import RelatedQuestion
from synthesis.related.tiny_clinic import PATIENT_COLUMNS, VISIT_COLUMNS, clinic, request, tables

OTHERS = (
    [(1, 0, "f"), (2, 3, None), (3, 2, "m")],
    [(1, "eyes", 1), (1, "heart", 4), (1, "x", None), (3, "eyes", 0)],
)
PATIENTS = [(), ((9, 1, "f"),), ((9, 1, "f"), (9, 2, "m"))]
VISITS = [(), ((9, "eyes", 0),), ((9, "eyes", 0),) * 5, tuple((9, "heart", cost) for cost in range(4))]


def counts(one, held, salt="a salt"):
    """Return what a request reads: of persons, and of events."""
    return [compute(plan, held, salt=Salt(value=salt)).values for plan in one.plans]


_BEFORE = {}


def before_of(one, **declared):
    """Return what a request reads of the others; counted once."""
    key = (one.identity, *sorted(declared.items()))
    if key not in _BEFORE:
        _BEFORE[key] = counts(one, tables(*OTHERS, **declared))
    return _BEFORE[key]


def moved(one, patients, visits, **declared):
    """Return how far a person moves tables of persons and of events; no count of others may go down."""
    before = before_of(one, **declared)
    after = counts(one, tables(OTHERS[0] + list(patients), OTHERS[1] + list(visits), **declared))
    found = []
    for old, new in zip(before, after, strict=True):
        changes = [other - same for same, other in zip(old, new, strict=True)]
        assert all((change >= 0).all() for change in changes)
        found.append(max(int(change.sum()) for change in changes))
    return found


CASES = list(product(PATIENTS, VISITS))


@pytest.mark.parametrize(
    ("patients", "visits"),
    [
        pytest.param(*case, marks=() if place in {6, 11} else pytest.mark.slow)
        for place, case in enumerate(CASES)
    ],
)
def test_a_person_moves_persons_by_one_and_events_by_the_limit(patients, visits):
    one = request(tables(*OTHERS))
    persons, events = moved(one, patients, visits)
    assert persons == min(len(patients), 1)
    assert events == min(len(patients) * len(visits), 2)


@pytest.mark.slow
def test_a_limit_that_is_not_applied_would_be_noticed(monkeypatch):
    # Planted: the plan of a wider limit under the noise of a narrow one.
    wide = tables(*OTHERS, limit=4)
    one = request(wide, limits=Limits(rows=2))
    assert moved(one, PATIENTS[1], VISITS[2], limit=4) == [1, 2]
    monkeypatch.setattr(RelatedQuestion, "_bounded_events", lambda self, held: (Source(table="visits"), 2))
    planted = request(wide)
    assert moved(planted, PATIENTS[1], VISITS[2], limit=4) == [1, 4]
    with pytest.raises(ParameterError, match="other declarations"):
        planted.check(wide)


@pytest.mark.slow
def test_a_person_who_counts_twice_would_be_noticed(monkeypatch):
    # Planted: of the table of persons as many rows count as were declared.
    wide = tables(*OTHERS, of_patients=3)
    assert moved(request(wide), PATIENTS[2], VISITS[1], of_patients=3)[0] == 1
    monkeypatch.setattr(RelatedQuestion, "_one", lambda self, held: Limits(rows=3))
    planted = request(wide)
    assert moved(planted, PATIENTS[2], VISITS[1], of_patients=3)[0] == 2
    with pytest.raises(ParameterError, match="other declarations"):
        planted.check(wide)


@pytest.mark.slow
def test_a_wider_limit_of_persons_does_not_widen_that_of_events():
    wide = tables(*OTHERS, of_patients=5)
    one = request(wide)
    one.check(wide)
    assert moved(one, PATIENTS[2], VISITS[3], of_patients=5) == [1, 2]


def test_persons_without_events_count_as_such_and_events_of_nobody_do_not():
    held = tables(
        [(1, 0, "f"), (2, 1, "m"), (3, 2, "f"), (None, 1, "f")], [(1, "eyes", 1), (7, "eyes", 1)] * 2
    )
    one = request(held)
    made = one.mechanism.synthesizer
    persons, events = counts(one, held)
    place = made.persons.counted_sets.index((0, 2))
    by_number = persons[place].reshape(made.persons.domain.shape[0], 3).sum(axis=0)
    assert by_number.tolist() == [2, 0, 1]
    assert {int(table.sum()) for table in events} == {2}


def test_numbers_beyond_the_limit_are_the_limit():
    held = tables([(1, 0, "f")], [(1, "eyes", 1)] * 9)
    one = request(held)
    persons, events = counts(one, held)
    place = one.mechanism.synthesizer.persons.counted_sets.index((0, 2))
    assert persons[place].reshape(-1, 3)[0].tolist() == [0, 0, 1]
    assert {int(table.sum()) for table in events} == {2}


def test_an_event_is_beside_each_row_of_its_person_within_the_limit():
    held = tables([(1, age, "f") for age in range(3)], [(1, "eyes", 1)])
    persons, events = counts(request(held), held)
    assert {int(table.sum()) for table in persons} == {1}
    assert {int(table.sum()) for table in events} == {2}  # of three pairs with the one event


@pytest.mark.parametrize("how", ["declared", "stated"])
def test_no_more_rows_of_a_person_than_of_one_table(how):
    most = 1 << 20
    request(tables(*OTHERS, limit=most))
    wide = tables(*OTHERS, limit=most + 1 if how == "declared" else 10**9)
    with pytest.raises(ParameterError, match="rows"):
        request(wide, limits=None if how == "declared" else Limits(rows=10**9))


@pytest.mark.slow
def test_columns_of_the_same_name_are_told_apart(tmp_path):
    patients, visits = clinic(60)
    people = tables(patients, visits)["patients"]
    events = dp.Table(
        pd.DataFrame(visits, columns=["patient", "sex", "age"]),
        person="patient",
        limits=Limits(rows=2),
        columns={"sex": VISIT_COLUMNS["ward"], "age": VISIT_COLUMNS["cost"]},
    )
    curator = dp.Curator(
        {"patients": people, "visits": events}, budget=dp.Budget(rho=100), ledger=tmp_path / "c"
    )
    found = curator.synthesize_related(
        "patients", ["sex", "age"], events="visits", event_columns=["age", "sex"], rho=50
    )
    made = found.to_pandas(30)
    assert list(made["patients"]) == ["patient", "sex", "age"]
    assert set(made["visits"]["sex"].dropna()) <= {"eyes", "heart"}
    assert "patients.age" in found.measured.to_pandas()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"event_columns": ("ward", "ward")}, ParameterError),
        ({"columns": ()}, ParameterError),
        ({"events": Source(table="patients")}, ParameterError),
        ({"events": Source(table="elsewhere")}, UndeclaredColumn),
        ({"widths": {"height": 1}}, ParameterError),
        ({"event_columns": ("patient",)}, UndeclaredColumn),
        ({"limits": Limits(rows=3)}, UnsupportedQuery),
        ({"limits": 2}, ParameterError),
    ],
)
def test_what_cannot_be_asked_is_refused(wrong, error):
    held = tables(*OTHERS)
    given = {
        "relation": Source(table="patients"),
        "events": Source(table="visits"),
        "columns": ("age", "sex"),
        "event_columns": ("ward", "cost"),
        "widths": {},
    } | wrong
    with pytest.raises(error):
        RelatedQuestion(**given).request(held, Offer(rho=1), Fraction(19, 20))


def arrow(rows, types):
    held = zip(types.items(), zip(*rows, strict=True), strict=True)
    return pyarrow.table({name: pyarrow.array(values, kind) for (name, kind), values in held})


@pytest.mark.slow
def test_every_engine_counts_the_same_tables(engine):  # noqa: F811
    patients, visits = clinic(50)
    patients += [(4, 1, None), (None, 1, "f")]
    visits += [(4, "x", 9)] * 5 + [(7, "eyes", None), (None, "eyes", 1)]
    held = tables(patients, visits, limit=3)
    one = request(held)
    people = arrow(patients, {"patient": "int64", "age": "int64", "sex": "string"})
    events = arrow(visits, {"patient": "int64", "ward": "string", "cost": "int64"})
    other = {
        "patients": engine.table(
            people, person="patient", limits=Limits(rows=1), columns=PATIENT_COLUMNS, version="1"
        ),
        "visits": engine.table(
            events, person="patient", limits=Limits(rows=3), columns=VISIT_COLUMNS, version="1"
        ),
    }
    for mine, theirs in zip(counts(one, held), counts(one, other), strict=True):
        assert all(np.array_equal(same, table) for same, table in zip(mine, theirs, strict=True))


@pytest.mark.slow
def test_a_replayed_request_draws_the_same():
    held = tables(*clinic(50))
    drawn = []
    for _ in range(2):
        with replay(5):
            drawn.append(request(held).draw(held))
    assert drawn[0] == drawn[1]
