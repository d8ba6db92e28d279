"""The same orders and lines, where every line names its customer in a column."""

from __future__ import annotations

from tests.corpus.world import World
from tests.corpus.worlds import trade


def world() -> World:
    """Make the tables, with the customer in every private one."""
    return World("trade_by_column", trade.tables(), trade.declarations("l_custkey"))
