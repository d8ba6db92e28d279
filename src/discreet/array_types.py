"""Arrays by what they hold."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers"]

Floats: TypeAlias = NDArray[np.float64]
"""Doubles, in any shape."""
Integers: TypeAlias = NDArray[np.int64]
"""Integers of 64 bits, in any shape."""
