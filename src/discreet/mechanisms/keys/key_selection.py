"""Key selection: which keys of a private table may be named at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.calibration import least_error
from discreet.mechanisms.error.key_selection import ShownKeys
from discreet.mechanisms.values import Lattice, check_delta
from discreet.noise import Source, current
from discreet.privacy.directed import log_interval, sqrt_interval
from discreet.privacy.events import Event
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, float_above, float_below, rational, show, whole
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels

__all__ = ["Counts", "KeyOffer", "KeySelection", "entered_counts"]

Counts: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]
"""The number of distinct persons of each key that occurs."""

MOST_KEYS = 1 << 20
LARGEST_EPSILON = 100

_LATTICE = Lattice(step=Fraction(1), integers=True)
_MOST_COMPARED = 4


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class KeyOffer(Record):
    """What a selection may cost: epsilon or rho, with delta, for persons of at most this many keys."""

    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction
    keys: int

    def __init__(self, *, epsilon: Number | None, rho: Number | None, delta: Number, keys: int) -> None:
        if (epsilon is None) == (rho is None):
            problem = "and rho are both missing" if rho is None else "and rho are both given"
            raise ParameterError("epsilon", problem, "one of the two")
        self._set(
            epsilon=_moderate(epsilon, "epsilon"),
            rho=_moderate(rho, "rho"),
            delta=check_delta(delta),
            keys=whole(keys, "keys", least=1, most=MOST_KEYS),
        )

    @property
    def loss_of_a_key(self) -> Fraction:
        """The pure epsilon that each key may cost: epsilon / keys, or sqrt(2 rho / keys), rounded down.

        Losses of keys that one person touches add up, and so do their rhos, each half a squared epsilon.
        """
        if self.epsilon is not None:
            return self.epsilon / self.keys
        assert self.rho is not None  # noqa: S101
        return Fraction(float_below(sqrt_interval(2 * self.rho / self.keys)[0]))

    @property
    def parameter(self) -> str:
        """The name of the parameter that sets the noise."""
        return "rho" if self.epsilon is None else "epsilon"

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP; for rho the (rho + 2 sqrt(rho log(1 / delta)), 2 delta) that it implies.

        Bun & Steinke 2016, Proposition 1.3, spends one delta; the other is that of the keys.
        """
        if self.epsilon is not None:
            return ApproximateDP(epsilon=self.epsilon, delta=self.delta)
        assert self.rho is not None  # noqa: S101
        root = sqrt_interval(self.rho * log_interval(1 / self.delta)[1])[1]
        return ApproximateDP(
            epsilon=Fraction(float_above(self.rho + 2 * root)), delta=min(2 * self.delta, Fraction(1))
        )

    def __str__(self) -> str:
        loss = self.rho if self.epsilon is None else self.epsilon
        assert loss is not None  # noqa: S101
        return f"{self.parameter}={show(loss)}, delta={show(self.delta)}, keys={self.keys}"


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class KeySelection(Record, ABC):
    """Show the keys of a private table that many persons have, and no key because of one person.

    Keys are known from the data alone. For each of them its number of distinct persons is counted, where
    a person counts for at most `keys` keys and once for each. Each key is then shown or not, by a draw of
    its own: `KeySelection.best` chooses, from public parameters, among `TruncatedGeometric`,
    `LaplaceThreshold` and `GaussianThreshold` the one that shows the smallest keys.

    Guarantee
    ---------
    (epsilon, delta)-DP when a person is added or removed, if built for epsilon and delta. If built for rho
    and delta, the law is rho-zero-concentrated private except for a share delta of it (proof:
    docs/proofs/key_selection.md). In particular the keys that only one person has, up to `keys` of them, are
    shown with total probability at most delta. Only the set of shown keys is released: values on them are
    charged separately.

    Finite precision
    ----------------
    Draws are exact, and so are thresholds and tables: where a certified bound cannot tell, less is shown.
    Counts below 1 are never shown, and those beyond 2^62 are clamped. Every key costs the same work,
    whatever its count and the draw; the time of a release tells how many keys there are.

    Error
    -----
    `error.shown(n)` and `error.missed(n)`, the probability that a key of n persons is shown or missed, and
    `error.size_for(p)`, the smallest n whose key is shown with probability p: exact, before running.

    Examples
    --------
    >>> from discreet.mechanisms.keys.key_selection import KeySelection
    >>> mechanism = KeySelection.best(epsilon=1, delta=1e-6, keys=1)
    >>> mechanism
    TruncatedGeometric(epsilon=1, delta=1e-6, keys=1)
    >>> mechanism.size_for(0.95)
    16
    >>> shown = mechanism.release([1, 400, 12])  # one truth value for each key
    """

    offer: KeyOffer

    @property
    @abstractmethod
    def event(self) -> Event:
        """The laws that `release` draws for the keys of one person."""

    @property
    @abstractmethod
    def error(self) -> ShownKeys:
        """With which probability a key of n persons is shown."""

    @abstractmethod
    def _levels(self, count: int, source: Source) -> NDArray[np.int64]:
        """Draw, for each of `count` keys, the number of persons from which on it is shown."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.offer})"

    @property
    def keys(self) -> int:
        """In how many keys a person counts at most."""
        return self.offer.keys

    @property
    def epsilon(self) -> float | None:
        """The epsilon it was built for, rounded up to a float; None if it was built for rho."""
        return None if self.offer.epsilon is None else float_above(self.offer.epsilon)

    @property
    def rho(self) -> float | None:
        """The rho it was built for, rounded up to a float; None if it was built for epsilon."""
        return None if self.offer.rho is None else float_above(self.offer.rho)

    @property
    def delta(self) -> float:
        """The delta it was built for, rounded up to a float."""
        return float_above(self.offer.delta)

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds: a person is added or removed."""
        return ADD_REMOVE_PERSON

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP: as asked, or what rho and delta imply with 2 delta."""
        return self.offer.guarantee

    def shown(self, persons: int) -> float:
        """Return the probability that a key with this many persons is shown, rounded down."""
        return self.error.shown(persons)

    def missed(self, persons: int) -> float:
        """Return the probability that a key with this many persons is not shown, rounded up."""
        return self.error.missed(persons)

    def size_for(self, probability: Number) -> int:
        """Return the smallest number of persons whose key is shown with at least this probability."""
        return self.error.size_for(probability)

    def release(self, counts: Counts) -> NDArray[np.bool_]:
        """Return, for each key, whether it is shown.

        Parameters
        ----------
        counts : vector of int
            The number of distinct persons of each key; no keys at all are no error.
        """
        persons = entered_counts(counts)
        source = current()
        shown: NDArray[np.bool_] = (persons >= 1) & (persons >= self._levels(len(persons), source))
        return source.mark(shown)

    def neighboring_inputs(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
        """Return counts without and with one person: of new keys, of keys shown half the time, of both."""
        touched, half = min(self.keys, _MOST_COMPARED), self.size_for(Fraction(1, 2))
        before = {(0,) * touched, (half,) * touched, (max(half - 1, 1),) * touched}
        before.add((0, *(half,) * (touched - 1)))
        return tuple((np.array(counts), np.array(counts) + 1) for counts in sorted(before))

    def plot(self, *, ax: Panels | None = None, label: str | None = None) -> Axes:
        """Draw how likely a key is shown, by its number of persons, and without one of them.

        Below, the logarithms of the ratios of both outcomes, between their bounds. All numbers are public.

        Parameters
        ----------
        ax : axes, or two axes, optional
            Where to draw the probabilities, or these and the ratios; by default a new figure with both.
        label : str, optional
            What the mechanism is called in the legend.
        """
        from discreet.mechanisms.keys.plot import plot_shown

        return plot_shown(self, ax=ax, label=label)

    @staticmethod
    def best(
        *, delta: Number, epsilon: Number | None = None, rho: Number | None = None, keys: int = 1
    ) -> KeySelection:
        """Return the selection that shows the smallest keys: half the time, then 95 times in 100.

        Parameters
        ----------
        delta : number
            The probability with which any key that only one person has may be shown.
        epsilon : number, optional
            The privacy loss, together with `delta`. Give this or `rho`.
        rho : number, optional
            The zero-concentrated loss, except for `delta`.
        keys : int
            In how many keys a person counts at most.
        """
        return _best(KeyOffer(epsilon=epsilon, rho=rho, delta=delta, keys=keys))


@lru_cache(maxsize=256)
def _best(offer: KeyOffer) -> KeySelection:
    """Return what an offer, which is public, makes; a question needs it several times on its way."""
    from discreet.mechanisms.keys.gaussian_threshold import GaussianThreshold
    from discreet.mechanisms.keys.laplace_threshold import LaplaceThreshold
    from discreet.mechanisms.keys.truncated_geometric import TruncatedGeometric

    kinds: list[Callable[..., KeySelection]] = [TruncatedGeometric, LaplaceThreshold, GaussianThreshold]
    return least_error(
        [
            partial(kind, epsilon=offer.epsilon, rho=offer.rho, delta=offer.delta, keys=offer.keys)
            for kind in kinds
        ],
        lambda made: (made.size_for(Fraction(1, 2)), made.size_for(Fraction(19, 20))),
    )


def entered_counts(counts: Counts) -> NDArray[np.int64]:
    """Return counts as a vector; what is refused depends on types and shapes alone."""
    if isinstance(counts, list | tuple | np.ndarray) and np.shape(counts) == (0,):
        return np.empty(0, np.int64)
    persons = _LATTICE.enter(counts, "counts")  # type: ignore[arg-type]
    if persons.ndim != 1:
        raise ParameterError("counts", "are not a vector", "one integer for each key")
    return persons


def _moderate(loss: Number | None, name: str) -> Fraction | None:
    exact = None if loss is None else rational(loss, name, positive=True)
    if exact is not None and exact > LARGEST_EPSILON:
        raise ParameterError(
            name,
            "is out of range for choosing keys that are not declared",
            f"at most {LARGEST_EPSILON}, beyond which there is hardly any noise; or keys that are listed",
        )
    return exact
