"""Learning: models whose training is private.

An estimator here is built from public facts alone, and releases a fit that may be used and shown freely.
Classifiers have the face of scikit-learn (`discreet[learn]`) and load it when they are first used; so does
`private`, which trains any model of PyTorch (`discreet[learn-torch]`).
"""

from typing import TYPE_CHECKING

from discreet.exports import publish
from discreet.learning.regression.adaptive_ridge import AdaptiveRidge
from discreet.learning.regression.linear_fit import LinearFit
from discreet.learning.regression.posterior_fit import PosteriorFit
from discreet.learning.regression.posterior_regression import PosteriorRegression
from discreet.learning.trees.decision_tree import DecisionTree
from discreet.learning.trees.tree_fit import Split, TreeFit

if TYPE_CHECKING:
    from discreet.learning import plot
    from discreet.learning.deep.clipping import (
        AdaptiveClipping,
        AutomaticClipping,
        FlatClipping,
        PerLayerClipping,
    )
    from discreet.learning.deep.planning import training_plan
    from discreet.learning.deep.private import private
    from discreet.learning.deep.private_epochs import private_epochs
    from discreet.learning.estimators.additive import AdditiveClassifier
    from discreet.learning.estimators.classifiers import LinearSVC, LogisticRegression
    from discreet.learning.estimators.clusters import KMeans
    from discreet.learning.estimators.components import PCA
    from discreet.learning.estimators.model_selection import ModelSelection
    from discreet.learning.estimators.naive_bayes import GaussianNB
    from discreet.learning.estimators.pipeline import Pipeline
    from discreet.learning.estimators.regressors import LinearRegression, Ridge
    from discreet.learning.estimators.scalers import MinMaxScaler, StandardScaler
    from discreet.learning.estimators.teacher_votes import TeacherVotes
    from discreet.learning.teachers.aggregation import ConfidentGNMax, GNMax, InteractiveGNMax, LNMax
    from discreet.learning.teachers.cost_curve import cost_curve
    from discreet.learning.teachers.cost_release import CostRelease

__all__ = [
    "PCA",
    "AdaptiveClipping",
    "AdaptiveRidge",
    "AdditiveClassifier",
    "AutomaticClipping",
    "ConfidentGNMax",
    "CostRelease",
    "DecisionTree",
    "FlatClipping",
    "GNMax",
    "GaussianNB",
    "InteractiveGNMax",
    "KMeans",
    "LNMax",
    "LinearFit",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "MinMaxScaler",
    "ModelSelection",
    "PerLayerClipping",
    "Pipeline",
    "PosteriorFit",
    "PosteriorRegression",
    "Ridge",
    "Split",
    "StandardScaler",
    "TeacherVotes",
    "TreeFit",
    "cost_curve",
    "plot",
    "private",
    "private_epochs",
    "training_plan",
]

publish(
    __name__,
    homes={
        "AdaptiveClipping": "discreet.learning.deep.clipping",
        "AdditiveClassifier": "discreet.learning.estimators.additive",
        "AutomaticClipping": "discreet.learning.deep.clipping",
        "ConfidentGNMax": "discreet.learning.teachers.aggregation",
        "CostRelease": "discreet.learning.teachers.cost_release",
        "FlatClipping": "discreet.learning.deep.clipping",
        "GNMax": "discreet.learning.teachers.aggregation",
        "GaussianNB": "discreet.learning.estimators.naive_bayes",
        "InteractiveGNMax": "discreet.learning.teachers.aggregation",
        "KMeans": "discreet.learning.estimators.clusters",
        "LNMax": "discreet.learning.teachers.aggregation",
        "LinearRegression": "discreet.learning.estimators.regressors",
        "LinearSVC": "discreet.learning.estimators.classifiers",
        "LogisticRegression": "discreet.learning.estimators.classifiers",
        "MinMaxScaler": "discreet.learning.estimators.scalers",
        "ModelSelection": "discreet.learning.estimators.model_selection",
        "PCA": "discreet.learning.estimators.components",
        "PerLayerClipping": "discreet.learning.deep.clipping",
        "Pipeline": "discreet.learning.estimators.pipeline",
        "Ridge": "discreet.learning.estimators.regressors",
        "StandardScaler": "discreet.learning.estimators.scalers",
        "TeacherVotes": "discreet.learning.estimators.teacher_votes",
        "cost_curve": "discreet.learning.teachers.cost_curve",
        "private": "discreet.learning.deep.private",
        "private_epochs": "discreet.learning.deep.private_epochs",
        "training_plan": "discreet.learning.deep.planning",
    },
)
