"""What estimators share that change columns: clipped rows in, other numbers out, within public bounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discreet.array_types import Floats
from discreet.learning.estimators.private_estimator import PrivateEstimator
from discreet.learning.moments.box_grid import BoxGrid

__all__ = ["PrivateTransformer"]


class PrivateTransformer(TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """An estimator without a target, whose columns are numbers within declared bounds.

    What is beyond the bounds is clipped, and what is not a number is the middle of its column: in a fit, and
    in what is transformed.
    """

    _draws = True
    """Whether a fit costs anything."""

    @abstractmethod
    def _moved(self, rows: Floats) -> Floats:
        """Return clipped rows as what they become: each by itself, to the last bit.

        What they become may be fitted again, and no row may decide how another is read. Products of matrices
        round a row by how many others there are; sums are taken column by column instead.
        """

    @abstractmethod
    def _bounds_out(self) -> list[tuple[float, float]]:
        """Return bounds for what rows become, one pair for each column: public, for who reads them next."""

    def _names_out(self, names: list[str]) -> list[str]:
        """Return names for what columns become, known before a fit; by default they stay."""
        return names

    def _next_columns(self, values: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the columns that those of a design become."""
        return list(self._moved(BoxGrid.of(self.features_).clipped(values)).T)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit, privately. Whatever a row holds, the fit does not fail, and no message says anything about it.

        Parameters
        ----------
        X : array or frame
        y : ignored
        """
        del y
        return self._fitted(self._columns_of(X, reset=True))

    def transform(self, X: Any) -> Floats:
        """Return what rows become, each by itself."""
        check_is_fitted(self)
        return self._moved(BoxGrid.of(self.features_).clipped(self._columns_of(X, reset=False)))
