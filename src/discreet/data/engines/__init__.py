"""DuckDB, PostgreSQL and Spark: what each needs so that all give the same integers."""

from __future__ import annotations

from discreet.data.engines.one_compiler import load_one_by_one

load_one_by_one()  # before a file here imports the compiler of its engine
