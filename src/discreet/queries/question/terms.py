"""The terms of a question: what may be spent on it, or how wrong it may be, and how that is divided."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction

from discreet.data.language.declarations import AUTO, Auto, Bounds, Limits
from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, confidence_level, probability, whole
from discreet.records import dataclass

__all__ = [
    "ASSUMED_ROWS",
    "CHOSEN",
    "CONFIDENCE",
    "DECLARED",
    "EARLIER_KEY_SHARE",
    "FIT_SHARE",
    "IN_ROUNDS",
    "LARGEST_ROWS",
    "Terms",
]

CONFIDENCE = Fraction(95, 100)
FIT_SHARE = Fraction(1, 4)
"""How much of an offer buys limits and bounds; of 0.1, 0.2 and 0.33 none is better everywhere."""
EARLIER_KEY_SHARE = Fraction(1, 3)
"""How much of an offer's epsilon the choice of undeclared keys got before it followed from the question."""

DECLARED = "declared"
"""All combinations of declared keys are answered; where some are undeclared, those are chosen."""
IN_ROUNDS = "in rounds"
"""Undeclared keys are chosen in rounds, for persons who have many keys each."""
CHOSEN = "chosen"
"""Only combinations that enough persons have are answered, even of declared keys."""

ASSUMED_ROWS = 1000
"""How many values a group is supposed to have where the error of a mean depends on it."""
LARGEST_ROWS = 10**18


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an analyst states beside a question; checked, exact, and passed along as a whole.

    Attributes
    ----------
    offer : Offer or None
        What may be spent. None if an error is wanted instead, or nothing was said.
    error : mapping of outputs to numbers, or None
        The largest margins, at the confidence, of the cheapest answer that is good enough.
    by_rho : bool
        Whether an offer for a wanted error is a rho, as the budget counts it, rather than a pure epsilon.
    confidence : Fraction
        Of the intervals, above 0 and below 1.
    split : mapping of outputs to numbers, or None
        The shares of the offer; None makes the errors alike.
    key_share : Fraction or None
        How much of epsilon or rho the choice of undeclared keys gets, above 0 and below 1; None for what
        follows from the question.
    keys : str
        `DECLARED`; `CHOSEN`, to show only combinations of keys that enough persons have; `IN_ROUNDS`, to
        choose undeclared keys in rounds.
    rows : int
        A hypothetical number of rows in a group, for the error of a mean.
    limits : Limits, AUTO or None
        Narrower than declared, or to be bought; None: as declared.
    bounds : mapping of columns to Bounds, AUTO or None
        Where none or wider ones are declared; AUTO has those bought that are missing.
    fit_share : Fraction
        How much of the offer is spent on limits and bounds that are bought, above 0 and below 1.
    day : date or None
        What CURRENT_DATE means in SQL: declared by the owner, not by an analyst.
    neighbors : Neighbors
        What the ledger protects: declared by the owner, too.
    """

    offer: Offer | None = None
    error: Mapping[str, Number] | None = None
    by_rho: bool = False
    confidence: Fraction = CONFIDENCE
    split: Mapping[str, Number] | None = None
    key_share: Fraction | None = None
    rows: int = ASSUMED_ROWS
    limits: Limits | Auto | None = None
    bounds: Mapping[str, Bounds] | Auto | None = None
    fit_share: Fraction = FIT_SHARE
    day: date | None = None
    keys: str = DECLARED
    neighbors: Neighbors = ADD_REMOVE_PERSON

    @classmethod
    def stated(
        cls,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        error: Mapping[str, Number] | None = None,
        by_rho: bool = False,
        confidence: Number = CONFIDENCE,
        split: Mapping[str, Number] | None = None,
        key_share: Number | None = None,
        rows: int = ASSUMED_ROWS,
        limits: object = None,
        bounds: object = None,
        fit_share: Number = FIT_SHARE,
        keys: str = DECLARED,
    ) -> Terms:
        """Return terms as an analyst states them, in numbers of any exact kind."""
        offered = any(part is not None for part in (epsilon, delta, rho))
        if keys not in {DECLARED, CHOSEN, IN_ROUNDS}:
            allowed = f"{DECLARED!r}, {CHOSEN!r} or {IN_ROUNDS!r}"
            raise ParameterError("keys", "is not a way to find keys", allowed)
        if error is not None and offered:
            raise ParameterError("error", "is given together with an offer", "an error or an offer")
        return cls(
            offer=_offer(epsilon, delta, rho) if offered else None,
            error=error,
            by_rho=by_rho,
            confidence=confidence_level(confidence),
            split=split,
            key_share=None
            if key_share is None
            else probability(key_share, "key_share", zero=False, one=False),
            rows=whole(rows, "rows", least=1, most=LARGEST_ROWS),
            limits=_stated_limits(limits),
            bounds=_stated_bounds(bounds),
            fit_share=probability(fit_share, "fit_share", zero=False, one=False),
            keys=keys,
        )

    @property
    def are_stated(self) -> bool:
        """Whether anything was said that a finished request has settled already."""
        return self != Terms(
            by_rho=self.by_rho,
            key_share=self.key_share,
            rows=self.rows,
            fit_share=self.fit_share,
            day=self.day,
            neighbors=self.neighbors,
        )

    def of_the_kind(self, parameter: Fraction) -> Offer:
        """Return an offer of the kind that the budget counts."""
        return Offer.concentrated(parameter) if self.by_rho else Offer.pure(parameter)

    def stated_offer(self) -> Offer:
        """Return what is offered, or ask for an offer."""
        return Offer() if self.offer is None else self.offer


def _stated_limits(stated: object) -> Limits | Auto | None:
    if stated is AUTO or stated is None:
        return stated
    if not isinstance(stated, Limits) or stated.is_bought:
        raise ParameterError("limits", "are not limits", "AUTO, Limits(rows=…), or what suggest_limits found")
    return stated


def _stated_bounds(stated: object) -> Mapping[str, Bounds] | Auto | None:
    if stated is AUTO or stated is None:
        return stated
    if not isinstance(stated, Mapping) or not all(
        isinstance(name, str) and isinstance(one, Bounds) for name, one in stated.items()
    ):
        raise ParameterError(
            "bounds", "are not bounds by column", "AUTO, {'cost': Bounds(…)}, or what suggest_bounds found"
        )
    return dict(stated)


def _offer(epsilon: Number | None, delta: Number | None, rho: Number | None) -> Offer:
    """Return what is offered; delta beside rho is for keys."""
    if rho is not None and epsilon is None:
        return Offer.concentrated(rho, delta)
    return Offer(epsilon=epsilon, delta=delta, rho=rho)
