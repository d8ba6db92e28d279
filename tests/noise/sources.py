"""Sources of words that a test controls or watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.entropy import Source, System

if TYPE_CHECKING:
    from collections.abc import Iterable


class Scripted(Source):
    """Words and further bits in a given order, and then those of another source, if there is one."""

    def __init__(
        self, words: Iterable[int] = (), bits: Iterable[int] = (), then: Source | None = None
    ) -> None:
        self._words = list(words)
        self._bits = list(bits)
        self._then = then

    def words(self, size: int) -> np.ndarray:
        taken, self._words = self._words[:size], self._words[size:]
        if len(taken) == size:
            return np.array(taken, np.uint64)
        assert self._then is not None, "more words were drawn than the script holds"
        return np.concatenate([np.array(taken, np.uint64), self._then.words(size - len(taken))])

    def bits(self, count: int) -> int:
        if not self._bits:
            return super().bits(count)
        value = self._bits.pop(0)
        assert 0 <= value < 1 << count
        return value

    @property
    def spent(self) -> bool:
        """Whether every word and every bit of the script was drawn."""
        return not self._words and not self._bits


class Counting(Source):
    """The system's words, counted."""

    def __init__(self) -> None:
        self._system = System()
        self.drawn = 0

    def words(self, size: int) -> np.ndarray:
        self.drawn += size
        return self._system.words(size)
