"""The former place of `sql_expressions`."""

from __future__ import annotations

from discreet.queries.sql_expressions import Columns, condition_of, expression_of, unwrapped

__all__ = ["Columns", "condition_of", "expression_of", "unwrapped"]
