"""Engines for tests: one PostgreSQL server and one Spark session for each process of a test run."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from curator.ledger.conftest import postgres  # noqa: F401
from data import three_engines


@pytest.fixture(scope="session")
def postgres_engine(postgres: str) -> Iterator[three_engines.Engine]:  # noqa: F811
    made = three_engines.postgres(postgres)
    yield made
    made.close()


@pytest.fixture(scope="session")
def spark_engine() -> Iterator[three_engines.Engine]:
    try:
        made = three_engines.spark()
    except Exception as problem:
        if os.environ.get("CI"):
            raise
        pytest.skip(
            f"no Spark: {type(problem).__name__}; pip install '.[test]' and a Java 17 runtime bring it"
        )
    yield made
    made.close()


@pytest.fixture(
    scope="session",
    params=[
        three_engines.DUCKDB,
        three_engines.POSTGRES,
        pytest.param(three_engines.SPARK, marks=pytest.mark.slow),
    ],
)
def engine(request: pytest.FixtureRequest) -> three_engines.Engine:
    """Each engine in turn; Spark, which takes a second for a statement, in the slow run only."""
    if request.param == three_engines.DUCKDB:
        return three_engines.embedded()
    return request.getfixturevalue(f"{request.param}_engine")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Where CI runs, no test of an engine may be skipped."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not accept: {report.longrepr}"
    return report
