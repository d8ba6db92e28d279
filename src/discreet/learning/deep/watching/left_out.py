"""Which examples had gradients that are not finite: noted on the device, and read from it now and then."""

from __future__ import annotations

from torch import Tensor

from discreet.array_types import Integers

__all__ = ["LeftOut"]

_MOST_WAITING = 256  # batches that have not been read from the device


class LeftOut:
    """The places of examples that counted as zero, once for every batch in which one did. Private."""

    def __init__(self) -> None:
        self._read: list[int] = []
        self._waiting: list[tuple[Integers, Tensor]] = []

    def note(self, places: Integers, counted: Tensor) -> None:
        """Note which example is in each place of a batch, and which count; the device is not waited for.

        Padding, which is nobody's, always counts.
        """
        self._waiting.append((places, counted))
        if len(self._waiting) >= _MOST_WAITING:
            self.places()

    def places(self) -> list[int]:
        """Return the places of all examples that were left out so far."""
        waiting, self._waiting = self._waiting, []
        self._read += [place for places, kept in waiting for place in places[~kept.cpu().numpy()].tolist()]
        return self._read
