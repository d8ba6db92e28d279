"""Events of private selection: the best of a random number of runs, none of the others shown."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.privacy.events.event import Event, stored
from discreet.privacy.events.sampling import Wrapper
from discreet.privacy.neighbors import Change
from discreet.privacy.rational import probability, rational
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["BestOfPoissonRuns", "BestOfRuns"]

_MOST_SHAPE, _MOST_MEAN = 1000, 10**6


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class BestOfRuns(Wrapper):
    """The best of K runs, where K >= 1 has a truncated negative binomial law.

    P(K = k) is proportional to (1 - stop)^k C(k + shape - 1, k). Shape 1 is the geometric law: run, and stop
    after each run with probability `stop`. Shape 0 is the logarithmic law. K is drawn apart from the data and
    is not shown; what is best is decided from the results of the runs alone, ties by a rule fixed in advance.

    Parameters
    ----------
    event : Event
        One run.
    shape : number
        Above -1 and at most 1000; the smaller, the less is paid for and the more likely is a single run.
    stop : number
        Above 0 and below 1.
    """

    inner: Event
    shape: Fraction
    stop: Fraction

    def __init__(self, event: Event, /, *, shape: Number = 1, stop: Number) -> None:
        exact, chance = rational(shape, "shape"), probability(stop, "stop", zero=False, one=False)
        if not -1 < exact <= _MOST_SHAPE:
            raise ParameterError("shape", "is out of range", f"above -1 and at most {_MOST_SHAPE}")
        self._wrap(event, _change(event), shape=exact, stop=chance)

    @property
    def pure_epsilon(self) -> Fraction | None:
        """(2 + shape) epsilon, where a run has an epsilon (Liu & Talwar 2019; Papernot & Steinke 2022)."""
        epsilon = self.inner.pure_epsilon
        return None if epsilon is None else (2 + self.shape) * epsilon


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class BestOfPoissonRuns(Wrapper):
    """The best of K runs, where K has a Poisson law; nothing is shown where K is 0.

    K is drawn apart from the data and is not shown; what is best is decided from the results of the runs
    alone.

    Parameters
    ----------
    event : Event
        One run.
    mean : number
        Of K, above 0 and at most a million.
    """

    inner: Event
    mean: Fraction

    def __init__(self, event: Event, /, *, mean: Number) -> None:
        exact = rational(mean, "mean", positive=True)
        if exact > _MOST_MEAN:
            raise ParameterError("mean", "is out of range", f"above 0 and at most {_MOST_MEAN}")
        self._wrap(event, _change(event), mean=exact)

    @property
    def pure_epsilon(self) -> Fraction | None:
        """0 where a run tells nothing."""
        return Fraction(0) if self.inner.pure_epsilon == 0 else None


def _change(event: object) -> Change:
    """Return the kind of change of the event's own relation: selection holds for any."""
    relation = event.neighbors if isinstance(event, Event) else None
    return Change.ADD_REMOVE if relation is None else relation.change
