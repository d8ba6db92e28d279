"""Read-only arrays: a strategy is shared by plans, requests and releases."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np

__all__ = ["seal"]


def seal(value: object) -> None:
    """Make all arrays that a record holds, itself or in records inside it, read-only.

    A matrix that is changed after its norms were taken would be measured with noise for another one.
    """
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, tuple | list):
        for part in value:
            seal(part)
    elif is_dataclass(value):
        for field in fields(value):
            seal(getattr(value, field.name))
