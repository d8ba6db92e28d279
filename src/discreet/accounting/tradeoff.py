"""The trade-off of an event: what the best attack must miss, for what it may accuse wrongly.

From the profile alone (docs/proofs/meaning.md, proposition 9). For two laws on finitely many outcomes,
`meaning.tradeoff` is the exact one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting.curves import Profile, profile
from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.privacy.decimals import float_text_above, float_text_below
from discreet.privacy.events import Event
from discreet.privacy.neighbors import Neighbors
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes

__all__ = ["Tradeoff", "tradeoff"]


_ABOVE = 1 + 1e-12
_RATES = (0.01, 0.1)
"""False positive rates that `str` shows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tradeoff:
    """What the best attack on an event can do: a lower bound on its false negative rate.

    An attack that accuses with probability f where a person's data are not there, and misses them with
    probability b where they are, has b >= tradeoff(f), whichever of the two tables is called the one without.
    """

    profile: Profile

    @overload
    def __call__(self, false_positive_rate: float) -> float: ...
    @overload
    def __call__(self, false_positive_rate: ArrayLike) -> float | Floats: ...
    def __call__(self, false_positive_rate: ArrayLike) -> float | Floats:
        """Return the least false negative rate at each false positive rate, rounded down."""
        return _plain(np.maximum(1 - np.asarray(self.true_positive_rate(false_positive_rate)), 0.0))

    def true_positive_rate(self, false_positive_rate: ArrayLike) -> float | Floats:
        """Return the largest true positive rate at each false positive rate, rounded up."""
        rates = np.asarray(false_positive_rate, dtype=np.float64)
        if not np.all((rates >= 0) & (rates <= 1)):
            raise ParameterError("false_positive_rate", "is out of range", "between 0 and 1")
        epsilons, deltas = self.profile.corners
        f = rates[..., None]
        with np.errstate(over="ignore", invalid="ignore"):
            rare = np.where(f > 0, deltas + np.exp(epsilons) * f, deltas)
            frequent = -np.expm1(-epsilons) + np.exp(-epsilons) * (deltas + f)
        return _plain(np.minimum(np.minimum(rare, frequent).min(axis=-1) * _ABOVE, 1.0))

    @property
    def advantage(self) -> float:
        """The most by which a true positive rate can exceed its false positive rate: delta at epsilon 0."""
        return self.profile(0.0)

    @property
    def neighbors(self) -> Neighbors | None:
        """The relation for which it holds."""
        return self.profile.neighbors

    @property
    def certified(self) -> bool:
        """Whether every error of the computation is inside the bound."""
        return self.profile.certified

    def __str__(self) -> str:
        rates = ", ".join(f"{float_text_below(float(self(one)))} at {one:g}" for one in _RATES)
        relation = "" if self.neighbors is None else f" ({self.neighbors})"
        return (
            f"trade-off{relation}: advantage at most {float_text_above(self.advantage)}; the least false "
            f"negative rate is {rates} of false positives"
        )

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Draw the bound and what it leaves to an attacker; see `accounting.plot.tradeoff`."""
        from discreet.accounting import plot

        return plot.tradeoff(self, ax=ax, label=label)


def tradeoff(event: Event) -> Tradeoff:
    """Return what the best attack must miss at every false positive rate: a certified lower bound.

    Parameters
    ----------
    event : Event
        What was run.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> best = tradeoff(events.Gaussian(noise_multiplier=1))
    >>> round(best(0.05), 3), round(best.advantage, 3)  # a test at level 0.05 has power 0.26
    (0.74, 0.383)
    """
    return Tradeoff(profile=profile(event))


def _plain(values: Floats) -> float | Floats:
    return float(values) if np.ndim(values) == 0 else values
