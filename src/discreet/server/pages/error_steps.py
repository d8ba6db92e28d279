"""How the error of each output shrinks as epsilon grows: previews at a few prices, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from discreet.records import dataclass

__all__ = ["ErrorStep", "error_steps_of", "prices_around"]

_LONGEST_NUMBER = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorStep:
    """A price, and the error of each output at it.

    Attributes
    ----------
    epsilon : str
        The price, as it can be typed.
    margins : tuple of float
        Of the outputs, in their order; None if one is not known.
    shares : tuple of float
        Each of them in percent of the largest of its output, for a bar.
    is_chosen : bool
        Whether this is the price of the form.
    fits : bool
        Whether it can be paid.
    """

    epsilon: str
    margins: tuple[float | None, ...]
    shares: tuple[float, ...]
    is_chosen: bool
    fits: bool


def prices_around(typed: str, found: Mapping[str, Any], factors: Sequence[float]) -> tuple[str, list[str]]:
    """Return the price of a preview, and those to compare it with; none if it has no pure epsilon."""
    try:
        price = float(typed) if len(typed) <= _LONGEST_NUMBER and typed else float(found["epsilon"])
    except (TypeError, ValueError):
        return "", []
    if not isfinite(price) or price <= 0:
        return "", []
    return f"{price:.4g}", [f"{price * factor:.4g}" for factor in factors]


def error_steps_of(chosen: str, previews: Mapping[str, Mapping[str, Any]]) -> list[ErrorStep]:
    """Return previews by price, the cheapest first; those with other outputs are left out."""
    names = [one["name"] for one in previews[chosen]["outputs"]]
    kept = {
        price: [_margin(one["margin"]) for one in found["outputs"]]
        for price, found in previews.items()
        if [one["name"] for one in found["outputs"]] == names
    }
    largest = [_largest([margins[place] for margins in kept.values()]) for place in range(len(names))]
    return [
        ErrorStep(
            epsilon=price,
            margins=tuple(margins),
            shares=tuple(
                100.0 if one is None else 100 * one / most if most else 0.0
                for one, most in zip(margins, largest, strict=True)
            ),
            is_chosen=price == chosen,
            fits=bool(previews[price]["fits"]) or bool(previews[price]["answered"]),
        )
        for price, margins in sorted(kept.items(), key=lambda pair: float(pair[0]))
    ]


def _margin(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


def _largest(values: Sequence[float | None]) -> float:
    return max((one for one in values if one is not None), default=0.0)
