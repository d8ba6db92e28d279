"""What a limit cuts: against exact sums, and what one person can change."""

from __future__ import annotations

import pandas as pd
import pytest

from discreet.data import EACH_ROW, Limits, Source, Table, compute, fresh_salt, sensitivity
from discreet.errors import ParameterError
from discreet.queries.binding.bind import bind
from discreet.queries.fitting.cut_rows import cut_query, limit_that_cuts

SIZES = [1] * 40 + [2] * 30 + [7] * 20 + [90] * 2
FRAME = pd.DataFrame({"who": [person for person, rows in enumerate(SIZES) for _ in range(rows)]})
VISITS = Source(table="visits")


def visits(frame=FRAME, **more):
    return Table(frame, person="who", **{"limits": Limits(rows=2), **more})


def exact(frame, limit, most=None):
    """The four sums, before noise, by name."""
    tables = {"visits": visits(frame)}
    bound = bind(cut_query(VISITS, limit, most)[0], tables)
    found = compute(bound.plan, tables, salt=fresh_salt())
    moves = {one.measure: int(one.sensitivity.l1) for one in sensitivity(bound.plan, tables).statistics}
    measured = {output.name: output.measures for output in bound.outputs}
    assert all(len(measures) == 1 for measures in measured.values())
    values = {name: int(found[measures[0]][0]) for name, measures in measured.items()}
    return values, {name: moves[measures[0]] for name, measures in measured.items()}


@pytest.mark.parametrize(("limit", "most"), [(1, None), (2, None), (2, 90), (7, 8), (100, None)])
def test_the_sums_are_those_of_the_rows(limit, most):
    largest = most or 10 * limit
    values, moves = exact(FRAME, limit, most)
    assert values == {
        "persons": len(SIZES),
        "persons_over": sum(size > limit for size in SIZES),
        "rows_kept": sum(min(size, limit) for size in SIZES),
        "rows_cut": sum(max(min(size, largest) - limit, 0) for size in SIZES),
    }
    assert moves == {"persons": 1, "persons_over": 1, "rows_kept": limit, "rows_cut": largest - limit}


@pytest.mark.parametrize("rows", [1, 2, 3, 50, 5000])
def test_one_person_moves_each_sum_by_no_more_than_its_noise_covers(rows):
    before, moves = exact(FRAME, 2)
    more = pd.concat([FRAME, pd.DataFrame({"who": [-1] * rows})], ignore_index=True)
    after, _ = exact(more, 2)
    assert all(0 <= after[name] - before[name] <= moves[name] for name in moves)
    assert after["rows_cut"] - before["rows_cut"] == max(min(rows, 20) - 2, 0)


def test_limits_that_cut_nothing_or_cannot_be_told_are_refused():
    assert limit_that_cuts(VISITS, {"visits": visits()}, None) == 2
    assert limit_that_cuts(VISITS, {"visits": visits()}, Limits(rows=5)) == 5
    for table, words in (
        (Table(FRAME, person=EACH_ROW), "each person has one"),
        (visits(limits=Limits(groups=2, rows_per_group=1)), "are on groups"),
        (visits(prepare=True), "prepared table"),
    ):
        with pytest.raises(ParameterError, match=words):
            limit_that_cuts(VISITS, {"visits": table}, None)
    with pytest.raises(ParameterError, match="most"):
        cut_query(VISITS, 5, 5)
