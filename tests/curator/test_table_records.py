"""What a ledger says of tables and plans."""

from __future__ import annotations

import hashlib

import pyarrow
import pytest

from curator.doors import COLUMNS, usual_visits, visits
from discreet.curator.ledger.canonical_json import canonical, check_body
from discreet.curator.table_records import checked_tables, declare, recorded
from discreet.data import Keys, Limits
from discreet.data.tables.public_table import PublicTable
from discreet.errors import ParameterError


def test_short_declarations_are_written_out():
    tables = {"visits": usual_visits(), "staff": visits([], limits=Limits(groups=2, rows_per_group=1))}
    declared = declare(tables)
    assert declared == {name: table.declaration for name, table in tables.items()}
    check_body(declared)


def test_the_version_is_no_part_of_a_declaration():
    assert declare({"visits": usual_visits("1")}) == declare({"visits": usual_visits("2")})


def test_long_and_deep_values_are_known_by_their_hash():
    deep = "x"
    for _ in range(33):
        deep = [deep]
    for value in (list(range(10_000)), {"a": "x" * 20_000}, deep):
        digest = hashlib.sha256(canonical(value).encode()).hexdigest()
        assert recorded(value) == {"sha256": digest}
    for value in (list(range(1000)), {"a": [{"b": None}]}, deep[0], "x", 3, None, []):
        assert recorded(value) == value


def test_different_long_declarations_have_different_hashes():
    found = [
        canonical(declare({"visits": visits([], columns={**COLUMNS, "household": Keys(keys)})}))
        for keys in (range(5000), range(5001), reversed(range(5000)))
    ]
    assert len(set(found)) == 3
    assert max(map(len, found)) < 200


def test_public_tables_are_declared_by_their_content():
    cities = PublicTable(pyarrow.table({"city": ["Oslo"]}))
    tables = {"visits": usual_visits(), "cities": cities}
    assert checked_tables(tables) == tables
    declared = declare(tables)
    assert declared["cities"] == {"public": True, "columns": {"city": "text"}, "sha256": cities.version}
    check_body(declared)
    other = PublicTable(pyarrow.table({"city": ["Rome"]}))
    assert declare({"cities": other}) != declare({"cities": cities})
    with pytest.raises(ParameterError, match="at least one private table"):
        checked_tables({"cities": cities})


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (
            {"visits": pyarrow.table({"a": [1]})},
            r"holds under 'visits' a Table, not declared; .*Table\(…, person=…",
        ),
        ({"visits": "visits.csv"}, "holds under 'visits' a str, not declared"),
        ({3: usual_visits()}, "is not a mapping of names to tables"),
        ([usual_visits()], "is not a mapping of names to tables"),
        ({}, "is not a mapping of names to tables"),
    ],
)
def test_frames_and_files_are_no_tables_yet(tables, words):
    with pytest.raises(ParameterError, match=words):
        checked_tables(tables)
