"""What classifiers share: classes that are declared, and labels that are read one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from discreet.data import Bounds, Keys
from discreet.errors import ParameterError
from discreet.learning.design.features import FeatureFacts
from discreet.learning.design.targets import Classes, Target
from discreet.learning.estimators.private_estimator import PrivateEstimator, read_one_by_one
from discreet.privacy.rational import Number

__all__ = ["SEEN", "PrivateClassifier", "labels_of"]

SEEN = "seen"
"""Take the classes from the labels: only where it is public which classes there are."""


class PrivateClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """An estimator that predicts one of several declared classes."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        classes: Sequence[Any] | str | None = None,
        rows: int = 1,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, rows=rows)
        self.classes = classes

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, privately.

        Rows of a class that is not declared are left out. Whatever a row holds, the fit does not fail, and no
        message says anything about it.
        """
        return self._fitted(self._columns_of(X, reset=True), *self._read_target(y))

    def _read_target(self, y: Any) -> tuple[Target, NDArray[Any]]:
        """Return the classes that are declared, and labels in one dimension."""
        labels = labels_of(y, seen=isinstance(self.classes, str))
        return Classes.of("y", self._stated_classes(labels)), labels

    def _declared_target(self, name: str, declared: Bounds | Keys) -> tuple[Target, dict[str, Any]]:
        if not isinstance(declared, Keys):
            raise ParameterError("target", "is a number, not one of several classes", "a column of keys")
        found = Classes.of(name, [key for key in declared.values if key is not None])
        return found, {"classes": list(found.labels)}

    def _stated_classes(self, labels: NDArray[Any]) -> Sequence[Any] | NDArray[Any]:
        if self.classes is None:
            raise ParameterError(
                "classes",
                "are not declared, and are never read from data",
                "a list of the labels, or SEEN where it is public which there are",
            )
        if not isinstance(self.classes, str):
            return self.classes
        if self.classes != SEEN:
            raise ParameterError("classes", "is text, not a list", f"a list of labels, or {SEEN!r}")
        check_classification_targets(labels)
        return labels


def labels_of(y: Any, *, seen: bool) -> NDArray[Any]:
    """Return labels in one dimension; those of a list are read one by one, unless classes are public."""
    return np.asarray(column_or_1d(y if seen else read_one_by_one(y, "y"), warn=True))
