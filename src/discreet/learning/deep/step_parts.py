"""What a private optimizer is made of: how a step draws, adds up, releases and is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from torch import Tensor

from discreet.array_types import Floats, Integers
from discreet.learning.deep.processes import Processes
from discreet.learning.deep.uses import Use
from discreet.privacy.events import Event

__all__ = ["DeviceSum", "DrawStep", "GradientSum", "MakeSum", "ReleaseStep", "StepRecord"]

DrawStep: TypeAlias = Callable[[int], tuple[Integers, Floats]]
"""Returns which examples of the data a step has, from 0, or which is in each of its places, and weights."""
MakeSum: TypeAlias = "Callable[[list[Tensor], list[list[int]]], GradientSum]"
"""Returns an empty sum of gradients, from the parameters and which of them have one norm."""
ReleaseStep: TypeAlias = Callable[[Any, float, int], tuple[list[Tensor], float, bool]]
"""Returns noisy gradients, the next bound and whether noise was private, from sum, bound and step."""


class StepRecord(Protocol):
    """Where steps are recorded before they are taken: a journal, or a permit of a curator."""

    def charge(self, event: Event) -> None:
        """Record what is about to run."""


class GradientSum(Protocol):
    """The clipped gradients of one step, added up."""

    def keep(self, uses: dict[str, Use]) -> dict[str, Any]:
        """Return what is kept of the uses of a call until they are added."""

    def shortened(self, use: Use) -> Use:
        """Return a use in numbers as short as what is kept of it, by operations that a graph can hold."""

    def add(self, uses: list[list[Any]], weights: Tensor, bound: float) -> Tensor:
        """Add the gradients of a batch, and return which examples count."""

    def add_up(self, processes: Processes) -> None:
        """Put the sums over all processes in place of those of this one."""

    def zeros(self) -> list[Tensor]:
        """Return zeros in the shapes of the parameters."""


class DeviceSum(GradientSum, Protocol):
    """A sum whose work on a batch can be recorded, apart from what it holds."""

    def measure(self, uses: list[list[Any]], weights: Tensor, bound: float) -> Any:
        """Return what is to be added of a batch."""

    def take(self, batch: Any) -> Tensor:
        """Add what was measured, and return which examples count; its numbers are read later."""

    def settle(self) -> None:
        """Read the numbers of what was taken last."""

    def draw_key(self) -> bool:
        """Draw the key of the noise of one step, and return whether it is private."""

    def release_alone(self, batch: Any, bound: float) -> list[Tensor]:
        """Return the noisy mean gradients of a step of one batch, under the key that was drawn last."""
