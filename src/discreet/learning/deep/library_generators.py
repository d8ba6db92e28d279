"""The generators that Python and NumPy have for everybody, by which data sets change examples at random.

Nothing here is drawn from them: they are lent a secret state, and get their own back.
"""

from __future__ import annotations

import random
from typing import Any, TypeAlias

import numpy as np

from discreet.noise import Source

__all__ = ["LibraryStates", "library_states", "renew_libraries", "set_libraries"]

LibraryStates: TypeAlias = tuple[Any, Any]
"""Of Python's generator, and of NumPy's, with the normal number that it may have kept."""

_PYTHON_BITS, _NUMPY_BITS = 624 * 32, 256


def library_states() -> LibraryStates:
    """Return the states of both."""
    return random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002


def set_libraries(states: LibraryStates) -> None:
    """Put the states of both back."""
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002


def renew_libraries(source: Source) -> None:
    """Draw secret states: all bits of Python's, and 256 for NumPy's, of whatever kind its generator is."""
    random.seed(source.bits(_PYTHON_BITS))
    seed = np.random.SeedSequence(source.bits(_NUMPY_BITS), pool_size=_NUMPY_BITS // 32)
    drawn = type(np.random.get_bit_generator())(seed).state  # type: ignore[attr-defined]
    np.random.set_state({**drawn, "has_gauss": 0, "gauss": 0.0})  # noqa: NPY002
