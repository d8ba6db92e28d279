"""The corpus on DuckDB, PostgreSQL and Spark: nothing is wrong, what is marked as answered is answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from tests.corpus.coverage import constructs_of, share_answered
from tests.corpus.marking import instead
from tests.corpus.measuring import ANSWERED, FAILED, REFUSED, WRONG, Outcome, Worlds, outcome
from tests.corpus.reading import CorpusQuery, corpus
from tests.corpus.worlds import world

from data.conftest import postgres, postgres_engine, spark_engine  # noqa: F401
from effort import ALL

LEAST_QUERIES, LEAST_SHARE = 300, 0.85
FAST = 30
"""As many as take a quarter of a minute."""
QUERIES = [pytest.param(query, id=query.title) for query in corpus()]


@pytest.fixture(scope="module")
def embedded() -> Iterator[Worlds]:
    made = Worlds()
    yield made
    made.close()


@pytest.fixture(scope="module")
def on_postgres(postgres_engine) -> Iterator[Worlds]:  # noqa: F811
    made = Worlds(postgres_engine.source)
    yield made
    made.close()


@pytest.fixture(scope="module")
def on_spark(spark_engine) -> Iterator[Worlds]:  # noqa: F811
    made = Worlds(spark_engine.source)
    yield made
    made.close()


def check(query: CorpusQuery, found: Outcome) -> None:
    assert found.what not in {WRONG, FAILED}, found.said
    if query.mark == ANSWERED:
        assert found.what == ANSWERED, found.said
    else:
        assert found.what == REFUSED, "it is answered now: python -m tests.corpus --mark"
        assert instead(found.said) == query.hint, "it says something else: python -m tests.corpus --mark"


@pytest.mark.few(FAST, slow=2 * FAST)
@pytest.mark.parametrize("query", QUERIES)
def test_on_duckdb(query, embedded):
    check(query, outcome(query, embedded))


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES if ALL else QUERIES[::10])
def test_on_postgres(query, on_postgres):
    check(query, outcome(query, on_postgres))


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES if ALL else QUERIES[::40])  # one takes Spark seconds
def test_on_spark(query, on_spark):
    check(query, outcome(query, on_spark))


def test_the_corpus_is_large_and_mostly_answered():
    queries = corpus()
    assert len(queries) >= LEAST_QUERIES
    assert max(Counter(query.title for query in queries).values()) == 1
    marked = [Outcome(query, ANSWERED if query.mark == ANSWERED else REFUSED) for query in queries]
    assert share_answered(marked) >= LEAST_SHARE


def test_refusals_are_marked_with_what_they_say():
    assert all(query.hint for query in corpus() if query.mark != ANSWERED)


def test_every_construct_of_the_tables_occurs():
    found = Counter(name for query in corpus() for name in constructs_of(query))
    assert min(found.values()) >= 5
    assert len(found) == 22


def test_worlds_are_the_same_every_time():
    world.cache_clear()
    first = world("school").rows
    world.cache_clear()
    assert all(table.equals(world("school").rows[name]) for name, table in first.items())
