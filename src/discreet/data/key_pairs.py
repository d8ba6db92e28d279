"""Which person has which keys, numbered: what a choice of keys in rounds decides on.

It is fetched from the engine and is as private as the rows; nothing prints it, and only a mechanism reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.key_counts import check_key_plan, has_few_keys, named_keys
from discreet.data.language.declarations import KeyValue
from discreet.data.language.plan import KeyPlan
from discreet.records import dataclass

if TYPE_CHECKING:
    import ibis.expr.types
    import pyarrow
    from numpy.typing import NDArray

    from discreet.data.salt import Salt
    from discreet.data.tables.table import Table

__all__ = ["KeyPairs", "compute_key_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPairs:
    """Pairs of a person and a key, both numbered from 0, each pair once. They are private.

    Attributes
    ----------
    persons, keys : arrays of integers
        The pairs.
    """

    persons: NDArray[np.int64] = field(repr=False, compare=False)
    keys: NDArray[np.int64] = field(repr=False, compare=False)
    _values: pyarrow.Array = field(repr=False, compare=False)

    def chosen(self, shown: NDArray[np.bool_]) -> tuple[KeyValue, ...]:
        """Return the keys for which `shown` is true, sorted: public once a mechanism has decided."""
        from discreet.data.reading.arrow_numbers import flags

        found = named_keys(self._values.filter(flags(shown)))
        return tuple(sorted(value for value in found if value is not None))


def compute_key_pairs(plan: KeyPlan, tables: Mapping[str, Table], *, salt: Salt) -> KeyPairs:
    """Return the keys of every person, at most `plan.keys` of each, chosen by the salt.

    Guarantee
    ---------
    Adding or removing a person adds or removes the pairs of that person and changes no others, but for how
    persons and keys are numbered (proof: keys_in_rounds, lemma 1).

    Raises
    ------
    EngineFailed
        If the engine does not finish; the message says nothing about why.
    """
    check_key_plan(plan, tables)
    from discreet.data.engines.statements import fetch_plan
    from discreet.data.lots import PERSON, key_name
    from discreet.data.reading.arrow_numbers import integers_of

    found = fetch_plan(_pairs, plan, tables, salt)
    keys = found.column(key_name(0)).combine_chunks().dictionary_encode()
    if PERSON in found.column_names:
        persons = integers_of(found.column(PERSON).combine_chunks().dictionary_encode().indices)
    else:
        persons = np.arange(len(found))
    return KeyPairs(
        persons=persons,
        keys=integers_of(keys.indices),
        _values=keys.dictionary,
    )


def _pairs(plan: KeyPlan, tables: Mapping[str, Table], salt: Salt) -> ibis.expr.types.Table:
    from discreet.data.bounding.totals import kept_cells
    from discreet.data.compile.relations import rows_of
    from discreet.data.lots import PERSON, key_name

    rows = rows_of(plan.source, tables, salt)
    rows = rows.filtered(rows.columns[plan.column].notnull())
    keys = {key_name(0): rows.columns[plan.column]}
    if not rows.has_person:
        return rows.table.select(**keys)
    table = rows.table.select(**{PERSON: rows.table[PERSON]}, **keys)
    cells = table.distinct()
    return cells if has_few_keys(plan, tables) else kept_cells(cells, plan.keys, salt)
