"""Which error is tolerated: of each value, of their sum, or of the largest."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from discreet.errors import ParameterError
from discreet.mechanisms.error.base import SAFETY, allowed_failure
from discreet.privacy.rational import Number, rational

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.mechanisms.error.base import ErrorLaw
    from discreet.mechanisms.error.gaussian import NormalError
    from discreet.mechanisms.error.laplace import LaplaceError

__all__ = ["Norm", "tolerates"]

Norm: TypeAlias = Literal["each", "l1", "maximum"]
"""Of each value by itself; of the sum of all absolute errors; of the largest of them."""


def tolerates(
    tolerance: Number, confidence: Number, norm: Norm, size: int | None
) -> Callable[[LaplaceError | NormalError], bool]:
    """Return a test of whether an error stays within a tolerance with at least a probability.

    Parameters
    ----------
    tolerance : number
        The largest error that is tolerated.
    confidence : number
        With at least which probability.
    norm : {"each", "l1", "maximum"}
        Of what: the laws of all three are exact.
    size : int, optional
        How many values there are; a norm needs it.
    """
    limit = rational(tolerance, "tolerance", positive=True)
    failure = allowed_failure(confidence) / SAFETY  # so that `quantile` agrees
    if norm not in _LAWS:
        raise ParameterError("norm", "is not known", f"one of {', '.join(map(repr, _LAWS))}")
    if norm != "each" and size is None:
        raise ParameterError("size", "is missing", "how many values there are, whose errors a norm combines")
    law = _LAWS[norm]
    return lambda error: _within(law(error), limit, failure)


def _within(law: ErrorLaw, limit: Fraction, failure: float) -> bool:
    return law.tail(limit) <= failure


_LAWS: dict[str, Callable[[LaplaceError | NormalError], ErrorLaw]] = {
    "each": lambda error: error,
    "l1": lambda error: error.l1,
    "maximum": lambda error: error.maximum,
}
