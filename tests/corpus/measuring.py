"""Running the corpus: what becomes of each query on an engine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import duckdb
import pyarrow
from tests.corpus.comparing import difference
from tests.corpus.exact import exact
from tests.corpus.quiet import Quiet
from tests.corpus.reading import CorpusQuery
from tests.corpus.worlds import world

import discreet as dp
from discreet.curator.release.release import Release
from discreet.errors import ParameterError, RequestRefused, UndeclaredColumn
from discreet.noise.entropy import using

OFFERS = tuple({"epsilon": 10**power} for power in (6, 5, 4, 3, 2, 0))
"""Tried in turn until no noise is beyond what can be drawn: its scale is at least 1/100 of a step."""
KEYS_TOO = {"epsilon": 100, "delta": 1e-6}
"""What is offered where keys are not declared."""
RARE = "some keys, which nobody declared, are too rare to be shown; have them declared, or list them in IN"
ANSWERED, REFUSED, WRONG, FAILED = "answered", "refused", "WRONG", "FAILED"


@dataclass(frozen=True)
class Outcome:
    """What became of a query: answered rightly, refused (with the message), wrong, or failed."""

    query: CorpusQuery
    what: str
    said: str = ""


class Worlds:
    """A curator for each world on one engine, opened when it is first asked."""

    def __init__(self, source: Callable[[pyarrow.Table], object] = lambda arrow: arrow) -> None:
        self._source = source
        self._folder = tempfile.TemporaryDirectory()
        self._open: dict[str, dp.Curator] = {}

    def curator(self, name: str) -> dp.Curator:
        """Return the curator of a world."""
        if name not in self._open:
            self._open[name] = dp.Curator(
                world(name).declared(self._source),
                budget=dp.Budget(epsilon=10**9, delta=0.5),
                ledger=f"{self._folder.name}/{name}.ledger",
            )
        return self._open[name]

    def close(self) -> None:
        """Close all."""
        for one in self._open.values():
            one.close()
        self._folder.cleanup()


def outcome(query: CorpusQuery, worlds: Worlds) -> Outcome:
    """Ask a query without noise and compare the answer with the exact one."""
    curator = worlds.curator(query.world)
    before = curator.spent.requests
    try:
        with using(Quiet(1)):
            release, offer = _asked(curator, query.sql)
    except (RequestRefused, ParameterError) as refusal:
        if curator.spent.requests != before:
            return Outcome(query, FAILED, f"refused after a charge: {refusal}")
        if not isinstance(refusal, RequestRefused):
            return Outcome(query, FAILED, f"{type(refusal).__name__}: {refusal}")
        return Outcome(query, REFUSED, str(refusal))
    except Exception as fault:  # whatever it is, it is a fault to be listed
        return Outcome(query, FAILED, f"{type(fault).__name__}: {fault}")
    try:
        expected = exact(query)
    except duckdb.Error as fault:
        return Outcome(query, FAILED, f"DuckDB itself: {fault}")
    if offer == KEYS_TOO and len(release.to_pandas()) < len(expected.rows):
        return Outcome(query, REFUSED, RARE)
    wrong = difference(query, release, expected)
    return Outcome(query, WRONG if wrong else ANSWERED, wrong)


def _asked(curator: dp.Curator, sql: str) -> tuple[Release, dict[str, float]]:
    """Return an answer and what was offered for it."""
    for offer in OFFERS[:-1]:
        try:
            return curator.ask(sql, **offer), offer
        except ParameterError:
            continue
        except UndeclaredColumn as refusal:
            if "chosen privately" in str(refusal):
                return curator.ask(sql, **KEYS_TOO), KEYS_TOO
            raise
    return curator.ask(sql, **OFFERS[-1]), OFFERS[-1]


def outcomes(queries: Iterable[CorpusQuery], worlds: Worlds) -> list[Outcome]:
    """Run many queries."""
    return [outcome(query, worlds) for query in queries]
