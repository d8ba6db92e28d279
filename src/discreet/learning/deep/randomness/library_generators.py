"""The generators that Python and NumPy have for everybody, by which data sets change examples at random.

Nothing here is drawn from them: they are lent a secret state, and get their own back.
"""

from __future__ import annotations

import random
from typing import Any, TypeAlias

import numpy as np

from discreet.noise import Source

__all__ = ["LibraryGenerators", "LibraryStates", "library_states", "set_libraries"]

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


class LibraryGenerators:
    """Lends both a secret state, which goes on where it was whenever it is lent again.

    NumPy gets another generator of the same kind in the place of its own: that takes a hundredth of the time
    of writing its state.
    """

    def __init__(self) -> None:
        self._python: Any = None
        self._numpy: Any = None
        self._outside: tuple[LibraryStates, Any] | None = None

    def lend(self, source: Source) -> None:
        """Use the secret states; the first time, draw them: all bits of Python's, and 256 for NumPy's."""
        if self._outside is not None:
            return
        own = np.random.get_bit_generator()  # type: ignore[attr-defined]
        self._outside = library_states(), own
        if self._python is None:
            random.seed(source.bits(_PYTHON_BITS))
            seed = np.random.SeedSequence(source.bits(_NUMPY_BITS), pool_size=_NUMPY_BITS // 32)
            self._numpy = type(own)(seed)
        else:
            random.setstate(self._python)
        np.random.set_bit_generator(self._numpy)  # type: ignore[attr-defined]

    def take_back(self) -> None:
        """Put the states outside back."""
        if self._outside is None:
            return
        ((python, numpy), own), self._outside = self._outside, None
        self._python = random.getstate()
        random.setstate(python)
        np.random.set_bit_generator(own)  # type: ignore[attr-defined]
        if numpy["has_gauss"]:
            np.random.set_state(numpy)  # noqa: NPY002 - what it kept was left behind
