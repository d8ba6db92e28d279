"""Where a ledger is: a file or a database, whose address is never shown."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.front.declaring.ledger_place import LedgerPlace, is_database


@pytest.mark.parametrize("address", ["postgresql://me:secret@host/ledgers", "postgres://host/x"])
def test_an_address_is_a_database_and_not_shown(address):
    place = LedgerPlace(location=address, name="clinic")
    assert is_database(address)
    assert place.file is None
    assert "secret" not in repr(place)
    assert "host" not in repr(place)


@pytest.mark.parametrize("path", ["clinic.ledger", "/data/postgres/clinic.ledger", "postgresql.ledger"])
def test_a_path_is_a_file(path):
    assert not is_database(path)
    assert LedgerPlace(location=path).file == Path(path)


def test_a_ledger_is_opened_without_its_tables(tmp_path):
    location = str(tmp_path / "clinic.ledger")
    rows = pa.table({"patient": [1, 2]})
    visits = dp.Table(rows, person="patient", limits=dp.Limits(rows=1))
    curator = dp.Curator({"visits": visits}, budget=dp.Budget(epsilon=1), ledger=location)
    entries = len(list(curator.ledger.entries()))
    assert len(list(LedgerPlace(location=location).open().entries())) == entries
