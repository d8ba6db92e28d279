"""DuckDB, PostgreSQL and Spark: what each needs so that all give the same integers."""

from discreet.data.libraries import require_libraries

require_libraries()
