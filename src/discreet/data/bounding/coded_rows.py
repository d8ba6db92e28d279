"""Rows as integers, for statistics that need all of them: edges of a graph, rows of a fixed number.

Values become integers inside the engine, in the same way on all of them: steps of a grid, places among
declared keys. What has no such integer is NULL, and has a fixed meaning here. Every row enters by itself, so
that one row more or less is at most one more or less of what is returned. (Proof: other_relations.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import ibis
import numpy as np

from discreet.array_types import Integers
from discreet.data.compile.keys import place
from discreet.data.engines.base import fetch
from discreet.data.grid import steps
from discreet.data.language.declarations import Bounds, Keys

if TYPE_CHECKING:
    import pyarrow
    from ibis.expr.types import Value

    from discreet.data.tables.fixed_table import FixedTable
    from discreet.data.tables.graph import Graph

__all__ = ["NO_KEY", "brought_to", "edge_codes", "row_codes"]

NO_KEY = -1
"""The code of a key that is none of those declared."""


def edge_codes(graph: Graph) -> tuple[Integers, Integers]:
    """Return the numbers of both ends of every row that names two declared nodes; private.

    Self-loops, repetitions and both directions are still there: `stability.graphs` drops them.
    """
    rows = graph._all_rows
    found = fetch(rows.select(first=rows[graph.ends[0]], second=rows[graph.ends[1]]), graph._backend)
    ends = [_nodes(found[name], graph) for name in ("first", "second")]
    inside = (ends[0] >= 0) & (ends[1] >= 0)
    return ends[0][inside], ends[1][inside]


def row_codes(table: FixedTable, names: Sequence[str]) -> Integers:
    """Return some columns of exactly the declared number of rows, in no particular order; private.

    A number is the index of its grid point, the lower bound if it is absent; a key its place among those
    declared, `NO_KEY` if it is none.
    """
    rows = table._all_rows
    codes = {}
    for number, name in enumerate(names):
        declared = table.columns[name]
        if isinstance(declared, Bounds):
            code: Value = ibis.coalesce(
                steps(rows[name], declared), ibis.literal(declared.lower_steps, type="int64")
            )
        else:
            assert isinstance(declared, Keys)  # noqa: S101
            code = ibis.coalesce(place(rows[name], declared), ibis.literal(NO_KEY, type="int64"))
        codes[f"code{number}"] = code
    found = fetch(rows.select(**codes), table._backend)
    listed = np.stack([_integers(found, name) for name in codes], axis=1)
    return brought_to(listed, table.rows, [absent(table, name) for name in names])


def absent(table: FixedTable, name: str) -> int:
    """Return the code of a value of which nothing is known."""
    declared = table.columns[name]
    return declared.lower_steps if isinstance(declared, Bounds) else NO_KEY


def brought_to(rows: Integers, many: int, missing: Sequence[int]) -> Integers:
    """Return exactly so many rows: the first ones in lexicographic order, or all and some that are missing.

    Of two lists that differ in one row, or of which one has a row more, the results differ in one row.
    """
    if len(rows) > many:
        order = np.lexsort(rows.T[::-1])
        return rows[order[:many]]
    filler = np.tile(np.array(missing, np.int64), (many - len(rows), 1))
    return np.concatenate([rows, filler])


def _nodes(column: pyarrow.ChunkedArray, graph: Graph) -> Integers:
    """Return the numbers of nodes; -1 for NULL and for those that were not declared."""
    import pyarrow
    import pyarrow.compute

    declared = graph.columns[graph.ends[0]]
    if isinstance(declared, Keys):
        listed = pyarrow.array(declared.values, column.type)
        column = pyarrow.compute.index_in(column, value_set=listed)
    numbers: Integers = np.asarray(column.fill_null(-1).to_numpy(), np.int64)
    return np.where((numbers >= 0) & (numbers < graph.nodes), numbers, -1)


def _integers(found: pyarrow.Table, name: str) -> Integers:
    values: Integers = np.asarray(found[name].to_numpy(), np.int64)
    return values
