"""Unary encoding: an answer as a row of bits, one for each category, every bit randomized on its own.

This is local privacy. `release` runs on the person's own side, and only the noisy bits are sent; the
server never sees a true answer. It estimates a histogram from the bits of all people.
"""

from __future__ import annotations

from fractions import Fraction
from math import log, log1p
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.local.randomized_response import (
    MOST_CATEGORIES,
    Categories,
    category_array,
    check_gap,
    lie_probability,
)
from discreet.noise import bernoulli, current
from discreet.privacy import events
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_PERSON
from discreet.privacy.rational import Number, float_above, rational, show, whole
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.figures import Axes, Panels
    from discreet.mechanisms.local.frequencies import FrequencyEstimate, ReportLaw
    from discreet.mechanisms.local.frequency_error import FrequencyError

__all__ = ["UnaryEncoding"]

_BITS_AT_ONCE = 1 << 17
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class UnaryEncoding(Record):
    """Report one category out of many as noisy bits, for a histogram.

    Parameters
    ----------
    size : int
        How many categories there are, numbered from 0.
    epsilon : number, optional
        The privacy loss of one report; the probabilities are then those of `optimized`. Give this, or
        both `keep` and `flip`.
    keep : number, optional
        The exact probability that the bit of the true category is reported as 1.
    flip : number, optional
        The exact probability that any other bit is reported as 1; 0 < flip < keep < 1.

    Guarantee
    ---------
    epsilon-DP for each person, when that person's category is replaced by any other, with
    epsilon = log(keep (1 - flip) / ((1 - keep) flip)): exactly two bits of the encoding change
    (Erlingsson, Pihur & Korolova 2014; Wang, Blocki, Li & Jha 2017; proof:
    docs/proofs/unary_encoding.md). It holds against everybody, the server included. Someone who
    reports twice pays twice.

    Finite precision
    ----------------
    Coins are exact for rational probabilities. Where epsilon is given, `flip` is rounded up to a
    multiple of 2^-60 with certified arithmetic (and `keep` down, where the two are tied), so the loss is
    at most the epsilon that was asked for. Every person draws size + 1 coins, for any category.

    Error
    -----
    The estimate of a proportion among n people is unbiased, with the standard error
    sqrt(p (1 - p) / n) / (keep - flip), where p is keep for a category that everyone has and flip for one
    that no one has, and in between otherwise; see `error`. `optimized` has the smallest for rare categories,
    `symmetric` the smallest for the worst ones. With fewer than 3 e^epsilon + 2 categories,
    `RandomizedResponse` does better on rare ones than either.

    Examples
    --------
    >>> from discreet.mechanisms.local.unary_encoding import UnaryEncoding
    >>> mechanism = UnaryEncoding(size=50, epsilon=1)
    >>> mechanism
    UnaryEncoding(size=50, keep=0.5, flip=≈0.268941)
    >>> bits = mechanism.release([3, 0, 49, 3])  # one row of bits for each person
    >>> bits.shape
    (4, 50)
    >>> histogram = mechanism.estimate(bits).counts  # on the server, from the bits alone
    """

    size: int
    keep: Fraction
    flip: Fraction
    loss: Fraction

    def __init__(
        self,
        *,
        size: int,
        epsilon: Number | None = None,
        keep: Number | None = None,
        flip: Number | None = None,
    ) -> None:
        if (epsilon is None) == (keep is None) or (keep is None) != (flip is None):
            raise ParameterError(
                "epsilon",
                "is given with keep and flip, or neither is complete",
                "alone, or else keep and flip",
            )
        if keep is not None and flip is not None:
            self._set(**_fields(size, keep, flip, None))
        else:
            asked = rational(epsilon, "epsilon", positive=True)  # type: ignore[arg-type]
            flip = lie_probability(asked, 1)
            check_gap(_HALF - flip, "epsilon")
            self._set(**_fields(size, _HALF, flip, asked))

    @classmethod
    def optimized(cls, size: int, epsilon: Number) -> UnaryEncoding:
        """Return the encoding with the least error on rare categories: keep 1/2, flip 1/(e^epsilon + 1)."""
        return cls(size=size, epsilon=epsilon)

    @classmethod
    def symmetric(cls, size: int, epsilon: Number) -> UnaryEncoding:
        """Return the encoding that treats all bits alike: flip = 1 - keep = 1/(e^(epsilon/2) + 1)."""
        asked = rational(epsilon, "epsilon", positive=True)
        flip = lie_probability(asked / 2, 1)
        check_gap(_HALF - flip, "epsilon")
        return cls._made(**_fields(size, 1 - flip, flip, asked))

    def __repr__(self) -> str:
        return f"UnaryEncoding(size={self.size}, keep={show(self.keep)}, flip={show(self.flip)})"

    @property
    def epsilon(self) -> float:
        """The privacy loss of one report, rounded up to a float."""
        return float_above(self.loss)

    @property
    def event(self) -> events.UnaryEncoding:
        """The law of one report."""
        return events.UnaryEncoding(keep=self.keep, flip=self.flip, size=self.size)

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy of each person's category."""
        return PureDP(epsilon=self.loss, neighbors=REPLACE_PERSON)

    def release(self, value: int | Categories) -> NDArray[np.uint8]:
        """Return noisy bits for one person, or one row of them for each person of an array.

        This is the client's part. It is meant to run where the true category is known already, so a
        value that is not a category is an error, shown only to the caller, before anything is drawn.
        """
        truths = category_array(value, self.size)
        source = current()
        people = truths.reshape(-1)
        bits = np.empty((people.size, self.size), np.uint8)
        columns = np.arange(self.size)
        # Coins come as 64-bit integers; a few rows at a time keep them out of memory.
        rows = max(1, _BITS_AT_ONCE // self.size)
        for start in range(0, people.size, rows):
            part = people[start : start + rows]
            clear = bernoulli(self.flip, part.size * self.size, source).reshape(part.size, self.size)
            kept = bernoulli(self.keep, part.size, source)
            bits[start : start + rows] = np.where(part[:, None] == columns, kept[:, None], clear)
        return source.mark(bits.reshape(*truths.shape, self.size))

    def neighboring_inputs(self) -> tuple[tuple[int, int], ...]:
        """Return pairs of categories; by symmetry the guarantee is tight on each."""
        return ((0, 1),) if self.size == 2 else ((0, 1), (0, self.size - 1))

    def plot(
        self, value: int = 0, neighbor: int = 1, *, ax: Panels | None = None, label: str | None = None
    ) -> Axes:
        """Draw the law of the report of two true categories, and the logarithm of their ratio with its bound.

        Only the bits of these two categories have another law, so that four outcomes say everything.

        Parameters
        ----------
        value, neighbor : int
            Two true categories.
        ax : axes, or two axes, optional
            Where to draw the laws, or the laws and the ratio; by default a new figure with both.
        label : str, optional
            What the mechanism is called in the legend.

        Returns
        -------
        axes
            Of the laws; its ``figure.axes`` are both.
        """
        from discreet.mechanisms.plot import NeighboringLaws, plot_laws

        first, second = (int(category_array(one, self.size)) for one in (value, neighbor))
        if first == second:
            raise ParameterError("neighbor", "is the same category", "another one")
        kept, flipped = ([log1p(-float(p)), log(p)] for p in (self.keep, self.flip))
        outcomes = [(1, 0), (1, 1), (0, 0), (0, 1)]
        found = NeighboringLaws(
            outputs=[f"{one}, {other}" for one, other in outcomes],
            here=np.array([kept[one] + flipped[other] for one, other in outcomes]),
            there=np.array([flipped[one] + kept[other] for one, other in outcomes]),
            names=(f"true category {first}", f"true category {second}"),
            guarantee=self.guarantee,
            neighbors=True,
            of=repr(self),
            output=f"reported bits of {first} and {second} (the other bits have the same law)",
        )
        return plot_laws(found, ax, label)

    @property
    def _law(self) -> ReportLaw:
        from discreet.mechanisms.local.frequencies import ReportLaw

        return ReportLaw(keep=self.keep, flip=self.flip)

    @property
    def error(self) -> FrequencyError:
        """How far an estimated proportion may be from the true one, known before anyone reports."""
        from discreet.mechanisms.local.frequency_error import FrequencyError

        return FrequencyError(law=self._law)

    def estimate(self, reports: ArrayLike) -> FrequencyEstimate:
        """Estimate how many people have each category, from one row of bits per person and nothing else.

        This is the server's part: post-processing of what is public already, so it costs nothing.
        """
        from discreet.mechanisms.local.frequencies import estimate_from_bits

        return estimate_from_bits(reports, self.size, self._law)

    def estimate_totals(self, totals: ArrayLike, *, people: int) -> FrequencyEstimate:
        """Estimate from the number of ones in each column, for a server that keeps no more than counts."""
        from discreet.mechanisms.local.frequencies import FrequencyEstimate

        estimate = FrequencyEstimate(totals=totals, people=people, law=self._law)
        if estimate.totals.size != self.size:
            raise ParameterError("totals", "are not one for each category", f"{self.size} counts")
        return estimate

    @classmethod
    def for_error(
        cls, tolerance: Number, *, people: int, size: int, confidence: Number = 0.95
    ) -> UnaryEncoding:
        """Return the encoding with the smallest epsilon whose estimates stay within a tolerance.

        It is symmetric: of all encodings with the same epsilon, that one has the smallest standard
        error for the worst true answers. (`optimized` is better where every category is rare.)

        Parameters
        ----------
        tolerance : number
            The largest error of the proportion of each category that is tolerated.
        people : int
            How many will report.
        size : int
            As for the mechanism.
        confidence : number
            With at least which probability, for any true categories.
        """
        from discreet.mechanisms.local.frequency_error import epsilon_for_error

        def build(epsilon: Fraction) -> UnaryEncoding:
            return cls.symmetric(size, epsilon)

        build(Fraction(1))  # a bad parameter should be reported now, not for every epsilon that is tried
        return build(epsilon_for_error(lambda x: build(x).error, tolerance, confidence, people))


def _fields(size: int, keep: Number, flip: Number, asked: Fraction | None) -> dict[str, object]:
    """Return the fields of an encoding, which loses no more than was asked for."""
    whole(size, "size", least=2, most=MOST_CATEGORIES)
    event = events.UnaryEncoding(keep=keep, flip=flip, size=size)
    check_gap(event.keep - event.flip, "keep")
    loss = event.pure_epsilon if asked is None else min(asked, event.pure_epsilon)
    return {"size": event.size, "keep": event.keep, "flip": event.flip, "loss": loss}
