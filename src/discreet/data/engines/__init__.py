"""DuckDB, PostgreSQL and Spark: what each needs so that all give the same integers."""

from __future__ import annotations

from discreet.data.engines.one_compiler import load_one_by_one
from discreet.data.libraries import require_libraries

require_libraries()
load_one_by_one()  # before a file here imports the compiler of its engine
