"""Exact draws from a discrete law in constant work: certified alias tables.

Walker's alias method cuts [0, 1) into n = 2^m equal cells; inside cell j lies one cut
point, below which the outcome is item j and above which it is item alias[j]. The cut points
are sums of the item's real-valued masses, irrational in general. Each is stored as the
floor of its product with 2^64, certified by integer enclosures. A word u of 64 bits decides its
lane by one comparison unless u equals that floor; then, with probability n / 2^64, further
bits of the same uniform number are drawn and compared with an enclosure of the cut point as
narrow as it takes. The law is therefore exactly the ideal one, and every lane costs one
word, two look-ups and two comparisons, for any outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from discreet.noise.enclosure import Enclosure
    from discreet.noise.entropy import Source

__all__ = ["AliasTable"]

_BITS = 320
_MORE_BITS = 192


class AliasTable:
    """A discrete law, ready to be drawn from exactly.

    Parameters
    ----------
    values : sequence of int
        What each item stands for.
    masses : callable
        `masses(bits)` encloses the probability of every item at `bits` bits; the real
        probabilities sum to one exactly.
    tail : callable, optional
        Given when the last item stands for infinitely many values: draws one of them. Its
        mass must be below 2^-64, so that it is only ever reached through the exact path.
    """

    def __init__(
        self,
        values: Sequence[int],
        masses: Callable[[int], list[Enclosure]],
        tail: Callable[[Source], int] | None = None,
    ) -> None:
        self._masses = masses
        self._tail = tail
        self._items = len(values)
        self.blocks = 1 << (self._items - 1).bit_length()
        enclosures = masses(_BITS)
        if tail is not None and enclosures[-1][1] >> (_BITS - 64):
            raise ArithmeticError("the tail of an alias table must weigh less than 2^-64")
        self._build(enclosures)
        offset = 64 - (self.blocks.bit_length() - 1)
        self._shift = np.uint64(offset % 64)  # a single cell: every word falls into cell 0
        self._single = offset == 64
        cells = np.arange(self.blocks, dtype=np.uint64)
        self._cut_words = (cells << self._shift) + np.array(self._floors(), np.uint64)
        padded = np.zeros(self.blocks, np.int64)
        padded[: self._items] = values
        self._values = np.stack([padded, padded[self._alias]], axis=1).reshape(-1)

    def _build(self, masses: list[Enclosure]) -> None:
        """Pair every cell with an alias by Vose's method, on enclosures.

        Each is kept as its lower end and its width, a small integer: what a donor gives moves both of its
        ends alike, and what it gets to know less by is the width of the cell that it fills.
        """
        cell_mass = 1 << (_BITS - (self.blocks.bit_length() - 1))
        padding = [0] * (self.blocks - self._items)
        low = [mass[0] for mass in masses] + padding
        width = [mass[1] - mass[0] for mass in masses] + padding
        alias = self._alias = list(range(self.blocks))
        small = [cell for cell, mass in enumerate(low) if mass < cell_mass]
        large = [cell for cell, mass in enumerate(low) if mass >= cell_mass]
        while small and large:
            cell, donor = small.pop(), large[-1]
            given = cell_mass - low[cell]
            if given < width[cell]:
                raise ArithmeticError("an alias table cannot be certified at this precision")
            alias[cell] = donor
            low[donor] = left = low[donor] - given
            width[donor] += width[cell]
            if left < cell_mass:
                small.append(large.pop())
        # Masses sum to one, so the last cell is exactly full, whatever its enclosure says.
        if len(small) + len(large) != 1:
            raise ArithmeticError("an alias table cannot be certified at this precision")
        self._full = (small or large)[0]
        self._cuts = [(least, least + unknown) for least, unknown in zip(low, width, strict=True)]

    def _floors(self) -> list[int]:
        """Return the first 64 bits of every cut point, which both ends of its enclosure share."""
        return self.cut_positions(64 - (self.blocks.bit_length() - 1))

    def cut(self, cell: int, bits: int) -> Enclosure:
        """Enclose the mass that a cell gives to its own item.

        That mass is the sum of the masses of all items below the cell in the tree of
        donations, less one full cell for each of those cells but itself.
        """
        if cell == self._full:
            full = 1 << (bits - (self.blocks.bit_length() - 1))
            return full, full
        masses = self._masses(bits)
        filled: list[list[int]] = [[] for _ in range(self.blocks)]
        for other, donor in enumerate(self._alias):
            if donor != other:
                filled[donor].append(other)
        members = [cell]
        for member in members:
            members.extend(filled[member])
        low = sum(masses[member][0] for member in members if member < self._items)
        high = sum(masses[member][1] for member in members if member < self._items)
        spent = (len(members) - 1) << (bits - (self.blocks.bit_length() - 1))
        return low - spent, high - spent

    def cut_positions(self, bits: int) -> list[int]:
        """Return where in its cell each cut point lies: the first `bits` bits of its share of the cell.

        The full cell, both of whose sides are its own item, has 0.
        """
        shift = _BITS - (self.blocks.bit_length() - 1) - bits
        positions = [low >> shift for low, _ in self._cuts]
        upper = [high >> shift for _, high in self._cuts]
        positions[self._full] = upper[self._full] = 0
        if positions != upper or min(positions) < 0:
            raise ArithmeticError("an alias table cannot be certified at this precision")
        return positions

    def alias(self, cell: int) -> int:
        """Return the item that a cell gives the rest of its mass to."""
        return self._alias[cell]

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide one lane per word."""
        del lane  # every lane follows the same law
        if self._single:
            return np.full(len(words), self._values[0])
        cells = np.empty(len(words), np.int64)
        np.right_shift(words, self._shift, out=cells.view(np.uint64))
        cuts = self._cut_words.take(cells, mode="clip")
        undecided = np.equal(words, cuts)
        np.add(cells, cells, out=cells)
        np.add(cells, np.greater_equal(words, cuts), out=cells)
        drawn = self._values.take(cells, mode="clip")
        if undecided.any():
            for position in np.flatnonzero(undecided):
                drawn[position] = self._settle(int(words[position]), source)
        return drawn

    def _settle(self, word: int, source: Source) -> int:
        """Decide a lane whose first 64 bits equal the floor of its cut point."""
        offset = 64 - (self.blocks.bit_length() - 1)
        cell, position = word >> offset, word & ((1 << offset) - 1)
        known, precision = 64, _BITS
        low, high = self._cuts[cell] if cell != self._full else self.cut(cell, precision)
        while True:
            position = (position << _MORE_BITS) | source.bits(_MORE_BITS)
            known += _MORE_BITS
            if known + 64 > precision:
                precision *= 2
                low, high = self.cut(cell, precision)
            if position + 1 <= low >> (precision - known):
                item = cell
            elif position >= -(-high >> (precision - known)):
                item = self._alias[cell]
            else:
                continue
            if self._tail is not None and item == self._items - 1:
                return self._tail(source)
            return int(self._values[2 * item])
