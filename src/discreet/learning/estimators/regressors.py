"""Linear regression with the face of scikit-learn: private fits of declared columns and a declared target."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from discreet.array_types import Floats
from discreet.curator.request.learner import Drawn, Learner
from discreet.data import Bounds, Keys
from discreet.errors import ParameterError
from discreet.learning.design.features import FeatureFacts, Features, NumberColumn
from discreet.learning.design.targets import Target
from discreet.learning.estimators.private_estimator import PrivateEstimator, read_one_by_one
from discreet.learning.regression.whitened_fit import WhitenedFit
from discreet.learning.regression.whitened_regression import WhitenedRegression
from discreet.learning.training.budgets import TrainingBudget
from discreet.privacy.rational import Number, rational

__all__ = ["LinearRegression", "Ridge"]

_SAY = "such as target=dp.Bounds(0, 500_000)"


class LinearRegression(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """Least squares under differential privacy, with intervals of the coefficients.

    Parameters
    ----------
    epsilon, delta : number, optional
        The privacy of a fit; or give
    rho : number, optional
        its zero-concentrated privacy loss.
    columns : declared columns
        What is public about the columns of X: bounds of numbers, keys of texts; for each by name or in order,
        or one for all. Of several keys the first is what the others are compared with.
    target : Bounds
        The bounds of y, public as well. Generous bounds do little harm: a small part of the budget finds
        where most values lie, and what is far beyond them is clipped, in fits as in predictions.
    fit_intercept : bool
        Whether a constant is fitted.
    rows : int
        How many rows a person has at most.

    Attributes
    ----------
    coef_ : array
        The coefficients of `get_feature_names_out`, in the units of the columns.
    intercept_ : float
    fit_ : WhitenedFit
        The whole fit.

    Notes
    -----
    Columns are cut to limits, coordinates are made alike, and a clipped gradient is what the noise is added
    to last (proof: docs/proofs/whitened_regression.md). Nothing is tuned on data.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> from discreet.learning import LinearRegression
    >>> ages = np.arange(10_000) % 80.0
    >>> model = LinearRegression(epsilon=1, delta=1e-6, columns=[(0, 100)], target=dp.Bounds(0, 200))
    >>> model = model.fit(ages[:, None], 20 + ages)
    >>> bool(0.9 < model.coef_[0] < 1.1)
    True
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        target: Bounds | tuple[Number, Number] | None = None,
        fit_intercept: bool = True,
        rows: int = 1,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, rows=rows)
        self.target = target
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the coefficients, privately.

        Rows without a response are left out. Whatever a row holds, the fit does not fail, and no message says
        anything about it.
        """
        values = self._columns_of(X, reset=True)
        responses = _responses_of(y)
        return self._fitted(values, self._stated_target(), responses)

    def predict(self, X: Any) -> Floats:
        """Return the prediction for each row."""
        check_is_fitted(self)
        encoded = self.fit_.features.encoded(self._columns_of(X, reset=False))
        return np.asarray(encoded @ self.fit_.weights, dtype=np.float64)

    def intervals(self, confidence: Number = 0.95) -> Floats:
        """Return an interval for each coefficient, of shape (coefficients, 2).

        Each holds its coefficient of the linear model with about this probability, over the noise and the
        errors of the model together: see `WhitenedFit.half_widths`.
        """
        check_is_fitted(self)
        half = self.fit_.half_widths(confidence)[:-1]
        return np.stack([self.coef_ - half, self.coef_ + half], axis=1)

    def intercept_interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """Return the interval of the intercept."""
        check_is_fitted(self)
        if not self.fit_intercept:
            return 0.0, 0.0
        half = float(self.fit_.half_widths(confidence)[-1])
        return self.intercept_ - half, self.intercept_ + half

    def _penalty(self) -> float | None:
        """Return the penalty on squared coefficients."""
        return 0.0

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        if not isinstance(target, NumberColumn):
            raise ParameterError("target", "is not a number", "a column with declared bounds")
        self._penalty()  # refuse it before rows are read
        return WhitenedRegression(
            features=features, target=target, budget=budget, intercept=bool(self.fit_intercept), rows=rows
        )

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, WhitenedRegression)  # noqa: S101
        self.fit_ = WhitenedFit.of(learner, drawn, penalty=self._penalty())
        self.features_ = self.fit_.features
        self.coef_ = self.fit_.coefficients
        self.intercept_ = self.fit_.intercept

    def _declared_target(self, name: str, declared: Bounds | Keys) -> tuple[Target, dict[str, Any]]:
        if not isinstance(declared, Bounds):
            raise ParameterError("target", "is one of several keys, not a number", "a column with bounds")
        return _response(declared, name), {"target": declared}

    def _stated_target(self) -> NumberColumn:
        if self.target is None:
            raise ParameterError("target", "has no declared bounds, and they are never read from data", _SAY)
        if isinstance(self.target, Keys) or not isinstance(self.target, Bounds | tuple):
            raise ParameterError("target", "does not say bounds", _SAY)
        return _response(self.target, "y")


class Ridge(LinearRegression):
    """Ridge regression under differential privacy: coefficients are drawn to 0 by a penalty.

    Parameters
    ----------
    alpha : number, optional
        The penalty on the sum of squared coefficients, in the units of the columns, as scikit-learn has it.
        It is public. By default it is a quarter of what the noise in the second moments is worth, a rule that
        looks at public numbers alone.
    epsilon, delta, rho, columns, target, fit_intercept, rows
        As of `LinearRegression`.

    Notes
    -----
    What is drawn does not depend on alpha. Intervals hold the coefficients that the penalty would give
    without noise, not those of the model. The intercept has no penalty.
    """

    def __init__(
        self,
        alpha: Number | None = None,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        target: Bounds | tuple[Number, Number] | None = None,
        fit_intercept: bool = True,
        rows: int = 1,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            columns=columns,
            target=target,
            fit_intercept=fit_intercept,
            rows=rows,
        )
        self.alpha = alpha

    def _penalty(self) -> float | None:
        if self.alpha is None:
            return None
        alpha = rational(self.alpha, "alpha")
        if alpha < 0:
            raise ParameterError("alpha", "is negative", "0 or more")
        return float(alpha)


def _response(declared: Bounds | tuple[Number, Number], name: str) -> NumberColumn:
    """Return the bounds of a response, without its grid."""
    (found,) = Features.of((declared,), [name], by_name=False).refuse_extremes().columns
    assert isinstance(found, NumberColumn)  # noqa: S101
    return replace(found, step=None)


def _responses_of(y: Any) -> NDArray[Any]:
    """Return responses in one dimension; those of a list are read one by one."""
    return np.asarray(column_or_1d(read_one_by_one(y, "y"), warn=True))
