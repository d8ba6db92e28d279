"""Tables of public values are those of Ibis, without what it loads to make one."""

from __future__ import annotations

import datetime
import subprocess
import sys

import ibis
import pyarrow

from discreet.data.engines.listed import listed_table

VALUES = pyarrow.table(
    {
        "text": pyarrow.array(["a", None, "é"]),
        "number": pyarrow.array([1, -(2**63), None], pyarrow.int64()),
        "flag": pyarrow.array([True, None, False]),
        "day": pyarrow.array([datetime.date(2026, 1, 1), None, datetime.date(1, 1, 1)], pyarrow.date32()),
    }
)


def test_it_is_a_table_as_ibis_makes_one():
    ours, usual = listed_table(VALUES), ibis.memtable(VALUES)
    assert ours.schema() == usual.schema()
    connection = ibis.duckdb.connect()
    assert connection.to_pyarrow(ours).equals(connection.to_pyarrow(usual))


def test_two_lists_have_two_names():
    assert listed_table(VALUES).op().name != listed_table(VALUES).op().name


def test_nothing_more_is_loaded():
    script = (
        "import sys, numpy as np, pyarrow\n"
        "from discreet.data.engines.listed import listed_table\n"
        "from discreet.data.reading.arrow_numbers import integers\n"
        "listed_table(pyarrow.table({'n': integers(np.arange(3))}))\n"
        "print('pandas' in sys.modules, 'pyarrow.dataset' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
