"""Statements of several answers mean what SQL means: without noise they say what DuckDB says."""

from __future__ import annotations

from math import isnan

import pytest

from queries.answers.statements import EXACT, asked, database, released, truth


def rows_of(release):
    columns = release.columns()
    shown = [*release.keys, *(column.name for column in release.outputs)]
    return sorted(zip(*(columns[name] for name in shown), strict=True), key=str)


def as_shown(release, text):
    """DuckDB's rows, with its columns in the order of the answer: keys first."""
    with database() as connection:
        found = connection.execute(text)
        names = [column[0] for column in found.description]
        listed = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    shown = [*release.keys, *(column.name for column in release.outputs)]
    return sorted((tuple(row[name] for name in shown) for row in listed), key=str)


def close(one, other):
    if one is None or other is None or isinstance(other, str):
        return one == other or (other is None and isnan(one))
    return float(one) == pytest.approx(float(other), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("name", EXACT)
def test_statements_mean_what_sql_means(name):
    release = released(asked(EXACT[name], epsilon=1).request())
    found, wanted = rows_of(release), as_shown(release, EXACT[name])
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert all(map(close, one, other)), (found, wanted)


def test_the_order_is_that_of_the_statement():
    text = EXACT["union all"]
    release = released(asked(text, epsilon=1).request())
    assert list(release.keys["city"]) == [row[0] for row in truth(text)]


def test_what_is_asked_twice_is_measured_once():
    twice = asked(EXACT["above the mean"], epsilon=1)
    assert len(twice.statement.parts) == 1
    assert len(twice.request().requests) == 1
