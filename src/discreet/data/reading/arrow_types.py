"""The types of Arrow that hold columns of the declared types.

They stand apart from what converts columns (`arrow_forms`): the functions of Arrow that it needs take
longer to load than a small file takes to be read.
"""

from __future__ import annotations

import pyarrow

from discreet.data.language.types import Type

__all__ = ["ARROW_TYPES"]

ARROW_TYPES = {
    Type.BOOLEAN: pyarrow.bool_(),
    Type.INTEGER: pyarrow.int64(),
    Type.FLOAT: pyarrow.float64(),
    Type.TEXT: pyarrow.string(),
    Type.DATE: pyarrow.date32(),
    Type.TIMESTAMP: pyarrow.timestamp("us"),
    Type.INSTANT: pyarrow.timestamp("us", "UTC"),
}
