"""DuckDB, PostgreSQL and Spark: what each needs so that all give the same integers."""
