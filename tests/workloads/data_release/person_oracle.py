"""All that one person may have, and all pairs of small tables that differ by one person."""

from __future__ import annotations

from itertools import product

import numpy as np


def persons(cells, rows, groups=None):
    """Every vector of counts that one person may contribute."""
    for counts in product(range(rows + 1), repeat=cells):
        used = sum(count > 0 for count in counts)
        if (sum(counts) <= rows) if groups is None else (used <= groups):
            yield np.array(counts, np.int64)


def neighboring_tables(cells, most, rows=1, groups=None):
    """Pairs of tables of which one has one person more; every cell of the smaller up to `most`."""
    for counts in product(range(most + 1), repeat=cells):
        table = np.array(counts, np.int64)
        for person in persons(cells, rows, groups):
            if person.any():
                yield table, table + person
