"""Randomized response: everyone answers a question about themselves, and every answer is deniable.

This is local privacy. `release` runs on the person's own side, and only its answer is sent; the
server never sees a true answer. Nothing that `release` needs belongs to the server: what the server
does with the reports is imported by `estimate` and `error` when they are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.noise import bernoulli, current, uniform_below
from discreet.noise.enclosure import exponential
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

__all__ = [
    "MOST_CATEGORIES",
    "Categories",
    "RandomizedResponse",
    "category_array",
    "check_gap",
    "lie_probability",
]

Categories: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]
"""The answers of several people: an index from 0 to categories - 1 for each."""

MOST_CATEGORIES = 1 << 20

_GRID_BITS = 60
_ENCLOSURE_BITS = 192
_LEAST_GAP = Fraction(1, 1 << _GRID_BITS)


def lie_probability(epsilon: Fraction, others: int) -> Fraction:
    """Return others / (e^epsilon + others), rounded up to a multiple of 2^-60.

    This is the probability of a false answer when every one of `others` false answers is e^epsilon
    times less likely than the true one. It increases with exp(-epsilon), of which a certified upper
    bound is taken; lying more often loses less privacy, so the rounding is on the safe side.
    """
    _, most = exponential(epsilon, _ENCLOSURE_BITS)
    false = others * most
    return Fraction(-(-(false << _GRID_BITS) // ((1 << _ENCLOSURE_BITS) + false)), 1 << _GRID_BITS)


def check_gap(gap: Fraction, name: str) -> None:
    """Refuse a law under which an answer says next to nothing: no estimate could be drawn from it."""
    if gap < _LEAST_GAP:
        raise ParameterError(name, "leaves only noise", "larger")


def category_array(value: int | Categories, categories: int, name: str = "value") -> NDArray[np.int64]:
    """Check that a value is one category, or one for each of several people; no message quotes it."""
    allowed = f"an integer from 0 to {categories - 1}, or a one-dimensional array of such integers"
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, "is not an array of integers", allowed) from None
    if array.size == 0:
        raise ParameterError(name, "is empty", allowed)
    if array.dtype.kind == "b" and categories == 2:
        array = array.astype(np.int64)  # no is 0 and yes is 1
    if array.dtype.kind not in "iu" or array.ndim > 1:
        raise ParameterError(name, "is neither an integer nor a one-dimensional array of integers", allowed)
    if array.min() < 0 or array.max() >= categories:
        raise ParameterError(name, "is not a category", allowed)
    return array.astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class RandomizedResponse(Record):
    """Tell the truth with a known probability, and otherwise one of the other answers at random.

    Parameters
    ----------
    categories : int
        How many answers there are, numbered from 0; 2 for a yes-or-no question, which also takes booleans.
    epsilon : number, optional
        The privacy loss of one answer. Give this or `truth`.
    truth : number, optional
        The exact probability of the true answer, above 1 / categories and below 1.

    Guarantee
    ---------
    epsilon-DP for each person, when that person's answer is replaced by any other, with
    epsilon = log(truth (categories - 1) / (1 - truth)): no true answer makes any report more than
    e^epsilon times as likely as another does. It holds against everybody, the server included
    (Warner 1965; Kairouz, Oh & Viswanath 2014; proof: docs/proofs/randomized_response.md). Someone
    who answers twice pays twice.

    Finite precision
    ----------------
    Coins and choices are exact for rational probabilities. Where epsilon is given, `truth` is rounded
    toward 1 / categories to a multiple of 2^-60, with certified arithmetic, so the loss is at most the
    epsilon that was asked for. Every answer draws one coin and one false answer, needed or not.

    Error
    -----
    The estimate of a proportion among n people is unbiased; its standard error is largest where everyone,
    or no one, has the answer: sqrt(p (1 - p) / n) / (truth - lie) with p = truth or
    p = lie = (1 - truth) / (categories - 1); see `error`.

    Examples
    --------
    >>> from discreet.mechanisms.local.randomized_response import RandomizedResponse
    >>> coins = RandomizedResponse.two_coins()
    >>> round(coins.epsilon, 4)
    1.0986
    >>> report = coins.release(1)  # on the person's own device
    >>> survey = coins.estimate([0, 1, 1, 0, 1, 0, 0, 0])  # on the server, from reports alone
    >>> survey.proportions
    array([0.75, 0.25])
    """

    categories: int
    truth: Fraction
    loss: Fraction

    def __init__(
        self, *, categories: int = 2, epsilon: Number | None = None, truth: Number | None = None
    ) -> None:
        if (epsilon is None) == (truth is None):
            raise ParameterError(
                "epsilon", "and truth are both given or both missing", "given, or else truth"
            )
        values = whole(categories, "categories", least=2, most=MOST_CATEGORIES)
        if truth is not None:
            event = events.RandomizedResponse(truth=truth, categories=values)
            loss = event.pure_epsilon
            check_gap(event.truth - Fraction(1, values), "truth")
        else:
            asked = rational(epsilon, "epsilon", positive=True)  # type: ignore[arg-type]
            exact = 1 - lie_probability(asked, values - 1)
            check_gap(exact - Fraction(1, values), "epsilon")
            event = events.RandomizedResponse(truth=exact, categories=values)
            loss = min(asked, event.pure_epsilon)
        self._set(categories=values, truth=event.truth, loss=loss)

    @classmethod
    def two_coins(cls) -> RandomizedResponse:
        """Return the classroom protocol: epsilon = log 3.

        Toss a coin. On heads, tell the truth. On tails, toss again, and say yes on heads and no on
        tails, for any truth. The truth is told with probability 1/2 + 1/2 * 1/2 = 3/4.
        """
        return cls(categories=2, truth=Fraction(3, 4))

    def __repr__(self) -> str:
        return f"RandomizedResponse(categories={self.categories}, truth={show(self.truth)})"

    @property
    def epsilon(self) -> float:
        """The privacy loss of one answer, rounded up to a float."""
        return float_above(self.loss)

    @property
    def lie(self) -> Fraction:
        """The probability of each false answer, (1 - truth) / (categories - 1)."""
        return (1 - self.truth) / (self.categories - 1)

    @property
    def event(self) -> events.RandomizedResponse:
        """The law of one report."""
        return events.RandomizedResponse(truth=self.truth, categories=self.categories)

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy of each person's answer."""
        return PureDP(epsilon=self.loss, neighbors=REPLACE_PERSON)

    @overload
    def release(self, value: int) -> int: ...

    @overload
    def release(self, value: Categories) -> NDArray[np.int64]: ...

    def release(self, value: int | Categories) -> int | NDArray[np.int64]:
        """Return a randomized answer for one person, or one for each person of an array.

        This is the client's part. It is meant to run where the true answer is known already, so a
        value that is not a category is an error, shown only to the caller, before anything is drawn.
        """
        truths = category_array(value, self.categories)
        source = current()
        honest = bernoulli(self.truth, truths.size, source).reshape(truths.shape)
        others = uniform_below(self.categories - 1, truths.size, source).reshape(truths.shape)
        lies = truths + 1 + others
        lies -= self.categories * (lies >= self.categories)
        reports = honest * truths + (1 - honest) * lies
        return source.mark(int(reports) if reports.ndim == 0 else reports)

    def neighboring_inputs(self) -> tuple[tuple[int, int], ...]:
        """Return pairs of answers; by symmetry the guarantee is tight on each."""
        return ((0, 1),) if self.categories == 2 else ((0, 1), (0, self.categories - 1))

    def plot(
        self, value: int = 0, neighbor: int = 1, *, ax: Panels | None = None, label: str | None = None
    ) -> Axes:
        """Draw the law of the report of two true answers, and the logarithm of their ratio with its bound.

        Parameters
        ----------
        value, neighbor : int
            Two true answers.
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

        answers = [int(category_array(one, self.categories)) for one in (value, neighbor)]
        laws = np.full((2, self.categories), log(self.lie))
        laws[[0, 1], answers] = log(self.truth)
        found = NeighboringLaws(
            outputs=[str(category) for category in range(self.categories)],
            here=laws[0],
            there=laws[1],
            names=(f"true answer {answers[0]}", f"true answer {answers[1]}"),
            guarantee=self.guarantee,
            neighbors=True,
            of=repr(self),
            output="report",
        )
        return plot_laws(found, ax, label)

    @property
    def _law(self) -> ReportLaw:
        from discreet.mechanisms.local.frequencies import ReportLaw

        return ReportLaw(keep=self.truth, flip=self.lie)

    @property
    def error(self) -> FrequencyError:
        """How far an estimated proportion may be from the true one, known before anyone answers."""
        from discreet.mechanisms.local.frequency_error import FrequencyError

        return FrequencyError(law=self._law)

    def estimate(self, reports: ArrayLike) -> FrequencyEstimate:
        """Estimate how many people have each answer, from one report per person and nothing else.

        This is the server's part: post-processing of what is public already, so it costs nothing.
        """
        from discreet.mechanisms.local.frequencies import estimate_from_reports

        return estimate_from_reports(reports, self.categories, self._law)

    def estimate_totals(self, totals: ArrayLike, *, people: int) -> FrequencyEstimate:
        """Estimate from the number of reports of each category, for a server that keeps only counts."""
        from discreet.mechanisms.local.frequencies import FrequencyEstimate

        estimate = FrequencyEstimate(totals=totals, people=people, law=self._law)
        if estimate.totals.size != self.categories or int(estimate.totals.sum()) != estimate.people:
            raise ParameterError("totals", "are not one for each category", "counts that sum to people")
        return estimate

    @classmethod
    def for_error(
        cls, tolerance: Number, *, people: int, confidence: Number = 0.95, categories: int = 2
    ) -> RandomizedResponse:
        """Return the mechanism with the smallest epsilon whose estimates stay within a tolerance.

        Parameters
        ----------
        tolerance : number
            The largest error of the proportion of each category that is tolerated.
        people : int
            How many will answer.
        confidence : number
            With at least which probability, for any true answers.
        categories : int
            As for the mechanism.

        Examples
        --------
        >>> mechanism = RandomizedResponse.for_error(0.05, people=2000)
        >>> mechanism.error.quantile(0.95, people=2000) <= 0.05
        True
        """
        from discreet.mechanisms.local.frequency_error import epsilon_for_error

        def build(epsilon: Fraction) -> RandomizedResponse:
            return cls(categories=categories, epsilon=epsilon)

        build(Fraction(1))  # a bad parameter should be reported now, not for every epsilon that is tried
        return build(epsilon_for_error(lambda x: build(x).error, tolerance, confidence, people))
