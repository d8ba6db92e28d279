"""A world: the tables that a kind of query is about, and what a curator declares about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow

import discreet as dp

LOOSE = 500
"""No person of any world has more rows than this, even after joins, so that nothing is cut."""

DAY = np.datetime64("1970-01-01")


@dataclass(frozen=True)
class Private:
    """What is declared about a private table; tables that have no such record are public."""

    person: object
    columns: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    """Tables of made-up rows, with declarations for those that are private."""

    name: str
    rows: Mapping[str, pyarrow.Table]
    private: Mapping[str, Private]

    def declared(self, source: Callable[[pyarrow.Table], object] = lambda arrow: arrow) -> dict[str, object]:
        """Declare every table; private ones are put into an engine by `source`."""
        return {
            name: dp.Table(
                source(arrow),
                person=self.private[name].person,
                limits=None if self.private[name].person is dp.EACH_ROW else dp.Limits(rows=LOOSE),
                columns=self.private[name].columns,
            )
            if name in self.private
            else dp.PublicTable(arrow)
            for name, arrow in self.rows.items()
        }


def days(first: str, numbers: np.ndarray) -> pyarrow.Array:
    """Dates so many days after the first."""
    return pyarrow.array((np.datetime64(first) + numbers.astype("timedelta64[D]")).astype("datetime64[D]"))


def moments(first: str, seconds: np.ndarray) -> pyarrow.Array:
    """Times so many seconds after the first."""
    return pyarrow.array(
        (np.datetime64(first, "us") + seconds.astype("timedelta64[s]")).astype("datetime64[us]")
    )


def gaps(draw: np.random.Generator, values: object, share: float) -> pyarrow.Array:
    """The same values, a share of which is missing."""
    arrow = values if isinstance(values, pyarrow.Array) else pyarrow.array(values)
    missing = pyarrow.array(draw.random(len(arrow)) < share)
    return pyarrow.compute.if_else(missing, pyarrow.scalar(None, arrow.type), arrow)


def decimals(cents: np.ndarray, digits: int = 12) -> pyarrow.Array:
    """Amounts of money with two places, given in hundredths."""
    whole = pyarrow.array(cents.astype(np.int64)).cast(pyarrow.decimal128(19, 0))
    hundredth = pyarrow.scalar("0.01").cast(pyarrow.decimal128(3, 2))
    return pyarrow.compute.multiply(whole, hundredth).cast(pyarrow.decimal128(digits, 2))
