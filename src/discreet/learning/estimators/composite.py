"""Estimators made of estimators: named parts, of which the whole says budget, columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.errors import ParameterError
from discreet.learning.estimators.private_estimator import PrivateEstimator

__all__ = ["CompositeEstimator", "named_parts"]

_SAID_ONCE = {"epsilon": None, "delta": None, "rho": None, "columns": None, "rows": 1}


class CompositeEstimator(PrivateEstimator):
    """An estimator with parts: parameters of a part are named `part__parameter`, as scikit-learn does."""

    _parts_name: str
    """The parameter that holds the pairs (name, estimator)."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, those of the parts included."""
        found: dict[str, Any] = super().get_params(deep=False)
        parts = found[self._parts_name]
        if deep and isinstance(parts, Sequence) and all(map(_is_part, parts)):
            for name, model in parts:
                found[name] = model
                found |= {f"{name}__{key}": value for key, value in model.get_params(deep=True).items()}
        return found


def named_parts(parts: Any, name: str) -> list[tuple[str, PrivateEstimator]]:
    """Return parts with a name each, none of which says what the whole says."""
    allowed = "a list of pairs (name, estimator of discreet.learning), each name once"
    if not isinstance(parts, Sequence) or not parts or not all(map(_is_part, parts)):
        raise ParameterError(name, "are not named estimators", allowed)
    if len({one for one, _ in parts}) < len(parts):
        raise ParameterError(name, "have a name twice", allowed)
    for said, model in parts:
        stated = model.get_params(deep=False)
        for key, unsaid in _SAID_ONCE.items():
            if key in stated and stated[key] != unsaid:
                raise ParameterError(name, f"state {key} of {said!r}", f"{key} of the whole, said once")
    return list(parts)


def _is_part(part: object) -> bool:
    return (
        isinstance(part, tuple)
        and len(part) == 2
        and isinstance(part[0], str)
        and isinstance(part[1], PrivateEstimator)
    )
