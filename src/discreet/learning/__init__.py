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
    from discreet.learning.estimators.clusters import KMeans
    from discreet.learning.estimators.components import PCA
    from discreet.learning.estimators.model_selection import ModelSelection
    from discreet.learning.estimators.naive_bayes import GaussianNB
    from discreet.learning.estimators.pipeline import Pipeline
    from discreet.learning.estimators.scalers import MinMaxScaler, StandardScaler

__all__ = [
    "PCA",
    "AdditiveClassifier",
    "DecisionTree",
    "GaussianNB",
    "KMeans",
    "LinearFit",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "MinMaxScaler",
    "ModelSelection",
    "Pipeline",
    "PosteriorFit",
    "PosteriorRegression",
    "Split",
    "StandardScaler",
    "TreeFit",
    "plot",
]

publish(
    __name__,
    homes={
        "PCA": "discreet.learning.estimators.components",
        "AdditiveClassifier": "discreet.learning.estimators.additive",
        "GaussianNB": "discreet.learning.estimators.naive_bayes",
        "KMeans": "discreet.learning.estimators.clusters",
        "LinearSVC": "discreet.learning.estimators.classifiers",
        "LogisticRegression": "discreet.learning.estimators.classifiers",
        "MinMaxScaler": "discreet.learning.estimators.scalers",
        "ModelSelection": "discreet.learning.estimators.model_selection",
        "Pipeline": "discreet.learning.estimators.pipeline",
        "StandardScaler": "discreet.learning.estimators.scalers",
    },
)
