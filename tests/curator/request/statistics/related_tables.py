"""Small graphs and surveys for tests, and statistics of rows that are handed to them without an engine."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import combinations
from unittest import mock

import numpy as np
import pyarrow

from discreet.audit.enumeration import output_law
from discreet.curator.request.statistics import fixed_counts, graph_counts, profiled
from discreet.data import Bounds, FixedTable, Graph, Keys
from discreet.data.bounding.coded_rows import brought_to

ENDS = ("one", "other")
KEYS = Keys(["red", "green"])
BOUNDS = Bounds(0, 3)


def graph(edges=(), nodes=5, **options):
    """A graph with a table of edges, as integers."""
    columns = list(zip(*edges, strict=True)) or [(), ()]
    arrays = [pyarrow.array(column, pyarrow.int64()) for column in columns]
    return Graph(pyarrow.table(arrays, list(ENDS)), ends=ENDS, nodes=nodes, **options)


def survey(rows=(), count=3, **options):
    """A table of a public number of rows, each a number and a color."""
    numbers, colors = list(zip(*rows, strict=True)) or [(), ()]
    table = pyarrow.table(
        {"x": pyarrow.array(numbers, pyarrow.int64()), "color": pyarrow.array(colors, pyarrow.string())}
    )
    return FixedTable(table, rows=count, columns={"x": BOUNDS, "color": KEYS}, **options)


@cache
def empty_graph(nodes):
    return graph(nodes=nodes)


@cache
def empty_survey(count):
    return survey(count=count)


def all_graphs(nodes):
    """Every set of edges on so many nodes."""
    pairs = list(combinations(range(nodes), 2))
    return [
        frozenset(pair for place, pair in enumerate(pairs) if mask >> place & 1)
        for mask in range(2 ** len(pairs))
    ]


def graph_steps(nodes):
    """Every graph with every graph that has one edge more."""
    return [
        (few, few | {pair})
        for few in all_graphs(nodes)
        for pair in combinations(range(nodes), 2)
        if pair not in few
    ]


@contextmanager
def reading_edges(edges):
    """Have statistics read these edges."""
    ends = np.array(sorted(edges), np.int64).reshape(-1, 2)
    with mock.patch.object(graph_counts, "edge_codes", return_value=(ends[:, 0], ends[:, 1])):
        yield


@contextmanager
def reading_rows(rows):
    """Have statistics read these rows of codes: a number and the place of a color."""
    places = {"x": 0, "color": 1}
    missing = {"x": BOUNDS.lower_steps, "color": -1}

    def codes(table, names):
        listed = np.array([[row[places[name]] for name in names] for row in rows], np.int64)
        return brought_to(
            listed.reshape(len(rows), len(names)), table.rows, [missing[name] for name in names]
        )

    with ExitStack() as patches:
        for module in (fixed_counts, profiled):
            patches.enter_context(mock.patch.object(module, "row_codes", codes))
        yield


def law_of(statistic, table, confidence, *, most_runs=1500):
    """The law of everything that is drawn, by following the random paths of the code."""
    return output_law(
        lambda one: tuple(-1.5 if number is None else number for number in statistic.draw(one, confidence)),
        table,
        cutoff=2.0**-40,
        most_runs=most_runs,
    )
