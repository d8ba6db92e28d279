"""Questions of a curator whose ledger is about another neighbor relation than that of a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.data.tables.fixed_table import FixedTable
from discreet.data.tables.graph import Graph
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.curator import Door
    from discreet.queries.question.fixed_statistic import FixedQuestions
    from discreet.queries.question.graph_statistic import GraphQuestions

__all__ = ["fixed_questions", "graph_questions"]


def graph_questions(curator: Door, name: str) -> GraphQuestions:
    """Begin a question about a `Graph`, of which one edge comes or goes. Building it touches nothing."""
    from discreet.queries.question.graph_statistic import GraphQuestions

    if not isinstance(curator.tables.get(name), Graph):
        raise ParameterError("name", "is not a declared graph", _names(curator, Graph))
    return GraphQuestions(name)


def fixed_questions(curator: Door, name: str) -> FixedQuestions:
    """Begin a question about a `FixedTable`, of which one row is replaced. Building it touches nothing."""
    from discreet.queries.question.fixed_statistic import FixedQuestions

    if not isinstance(curator.tables.get(name), FixedTable):
        raise ParameterError(
            "name", "is not a declared table of a public number of rows", _names(curator, FixedTable)
        )
    return FixedQuestions(name)


def _names(curator: Door, kind: type) -> str:
    found = sorted(name for name, table in curator.tables.items() if isinstance(table, kind))
    return f"one of {found}" if found else f"a {kind.__name__}(…) among the tables of the curator"
