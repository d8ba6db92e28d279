"""An offer: what may be spent on one question, one mechanism or one plan."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ParameterError
from discreet.privacy.rational import Number, probability, rational, show
from discreet.records import Record, dataclass

__all__ = ["Offer"]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Offer(Record):
    """What may be spent: epsilon, epsilon with delta, or rho, as exact fractions.

    Parameters
    ----------
    epsilon : number, optional
        Alone: pure DP.
    delta : number, optional
        With epsilon: (epsilon, delta)-DP. With rho, see `concentrated`.
    rho : number, optional
        Instead: zero-concentrated DP.
    """

    epsilon: Fraction | None
    delta: Fraction | None
    rho: Fraction | None

    def __init__(
        self, *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None
    ) -> None:
        if (epsilon is None) == (rho is None):
            raise ParameterError(
                "epsilon or rho", "must be given, and only one of them", "epsilon, epsilon with delta, or rho"
            )
        if delta is not None and epsilon is None:
            raise ParameterError("delta", "is given without epsilon", "with epsilon, or left out")
        failure = None if delta is None else probability(delta, "delta", one=False)
        self._set(
            epsilon=None if epsilon is None else rational(epsilon, "epsilon", positive=True),
            delta=failure or None,
            rho=None if rho is None else rational(rho, "rho", positive=True),
        )

    @classmethod
    def pure(cls, epsilon: Number) -> Offer:
        """Offer a pure epsilon."""
        return cls(epsilon=epsilon)

    @classmethod
    def concentrated(cls, rho: Number, delta: Number | None = None) -> Offer:
        """Offer a rho and, for the choice of keys that nobody declared, a delta besides."""
        made = cls(rho=rho)
        if delta is None:
            return made
        return made._with(delta=probability(delta, "delta", one=False) or None)

    def __repr__(self) -> str:
        named = (("epsilon", self.epsilon), ("delta", self.delta), ("rho", self.rho))
        return f"Offer({', '.join(f'{name}={show(value)}' for name, value in named if value is not None)})"
