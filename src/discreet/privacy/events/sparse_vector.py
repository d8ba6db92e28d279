"""The event of a sparse vector run whose threshold has any noise, such as Gaussian."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.privacy.events.event import Event, stored
from discreet.privacy.events.sampling import Wrapper
from discreet.privacy.neighbors import Change
from discreet.privacy.rational import non_negative, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["SparseVector"]


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class SparseVector(Wrapper):
    """Which questions lie above a noisy threshold, where the threshold's noise is drawn again after each.

    Every question is compared with its own fresh noise; negative answers cost nothing, and the run stops
    after `positives` positive ones. Only the indices of these are shown, not the noisy values.

    Parameters
    ----------
    event : Event
        The noise of one threshold, as if a number that moves by the sensitivity of the questions were shown
        with it: ``Gaussian(noise_multiplier=standard deviation / sensitivity)``, say.
    query_epsilon : number
        Pure epsilon of the noise of one question when that question moves by *twice* its sensitivity (once,
        if all questions move in one direction): 2 sensitivity / scale for Laplace noise.
    positives : int
        After how many positive answers the run stops.
    """

    inner: Event
    query_epsilon: Fraction
    positives: int

    def __init__(self, event: Event, /, *, query_epsilon: Number, positives: int = 1) -> None:
        relation = event.neighbors if isinstance(event, Event) else None
        self._wrap(
            event,
            Change.ADD_REMOVE if relation is None else relation.change,
            query_epsilon=non_negative(query_epsilon, "query_epsilon"),
            positives=whole(positives, "positives", least=1, most=10**9),
        )

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The sum over all thresholds and positive answers, where the threshold's noise has an epsilon."""
        epsilon = self.inner.pure_epsilon
        return None if epsilon is None else self.positives * (epsilon + self.query_epsilon)
