"""What an owner learns about rows that do not fit a declared relation: exact counts, for the owner alone.

No such row makes an answer fail, and none is reported to analysts: a message that depends on rows would be an
answer that nobody paid for.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from discreet.data.language.declarations import Keys
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.data.tables.fixed_table import FixedTable
    from discreet.data.tables.graph import Graph

__all__ = ["BrokenRows", "broken_fixed", "broken_graph"]

_WARNING = "EXACT COUNTS, FOR THE OWNER ALONE: they are not protected; show them to no analyst"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRows:
    """How many rows there are, and how many of them do not count, by the reason.

    Attributes
    ----------
    rows : int
        All rows that are stored.
    reasons : mapping of words to int
        Why rows do not count, and how many.
    """

    rows: int = field(repr=False)
    reasons: dict[str, int] = field(repr=False)

    @property
    def is_clean(self) -> bool:
        """Whether every row counts."""
        return not any(self.reasons.values())

    def __str__(self) -> str:
        return "\n".join(
            [_WARNING, f"{self.rows:,} rows", *(f"{n:,} {why}" for why, n in self.reasons.items())]
        )


def broken_graph(graph: Graph) -> BrokenRows:
    """Count the rows of a table of edges that are no edge, or one that is there already."""
    found = graph._rows()
    columns = [found[name].to_pylist() for name in graph.ends]
    declared = graph.columns[graph.ends[0]]
    known = set(declared.values) if isinstance(declared, Keys) else range(graph.nodes)
    unknown = loops = repeated = 0
    seen: set[frozenset[object]] = set()
    for one, other in zip(*columns, strict=True):
        if one is None or other is None or one not in known or other not in known:
            unknown += 1
        elif one == other:
            loops += 1
        elif (edge := frozenset((one, other))) in seen:
            repeated += 1
        else:
            seen.add(edge)
    return BrokenRows(
        rows=found.num_rows,
        reasons={
            "name a node that was not declared, or none": unknown,
            "name one node twice": loops,
            "repeat an edge, in this or the other direction": repeated,
        },
    )


def broken_fixed(table: FixedTable) -> BrokenRows:
    """Count the rows that are too many for the declared number, or missing."""
    from discreet.data.engines.base import fetch

    rows = table._all_rows
    many = int(fetch(rows.aggregate(n=rows.count()), table._backend)["n"][0].as_py())
    return BrokenRows(
        rows=many,
        reasons={
            "more than declared: those that come last in the order of their values do not count": max(
                many - table.rows, 0
            ),
            "fewer than declared: as many are filled up, at lower bounds and without keys": max(
                table.rows - many, 0
            ),
        },
    )
