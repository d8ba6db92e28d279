"""Learning: models whose training is private.

An estimator here is built from public facts alone, and releases a fit that may be used and shown freely.
Classifiers have the face of scikit-learn (`discreet[learn]`) and load it when they are first used.
"""

from typing import TYPE_CHECKING

from discreet.exports import publish
from discreet.learning.regression.linear_fit import LinearFit
from discreet.learning.regression.linear_regression import LinearRegression
from discreet.learning.regression.posterior_fit import PosteriorFit
from discreet.learning.regression.posterior_regression import PosteriorRegression
from discreet.learning.trees.decision_tree import DecisionTree
from discreet.learning.trees.tree_fit import Split, TreeFit

if TYPE_CHECKING:
    from discreet.learning import plot
    from discreet.learning.estimators.additive import AdditiveClassifier
    from discreet.learning.estimators.classifiers import LinearSVC, LogisticRegression

__all__ = [
    "AdditiveClassifier",
    "DecisionTree",
    "LinearFit",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "PosteriorFit",
    "PosteriorRegression",
    "Split",
    "TreeFit",
    "plot",
]

publish(
    __name__,
    homes={
        "AdditiveClassifier": "discreet.learning.estimators.additive",
        "LinearSVC": "discreet.learning.estimators.classifiers",
        "LogisticRegression": "discreet.learning.estimators.classifiers",
    },
)
