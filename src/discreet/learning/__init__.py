"""Learning: models whose training is private.

An estimator here is built from public facts alone, and releases a fit that may be used and shown freely.
Classifiers have the face of scikit-learn (`discreet[learn]`) and load it when they are first used; so does
`private`, which trains any model of PyTorch (`discreet[learn-torch]`).
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
    from discreet.learning.deep.clipping import (
        AdaptiveClipping,
        AutomaticClipping,
        FlatClipping,
        PerLayerClipping,
    )
    from discreet.learning.deep.private import private
    from discreet.learning.estimators.additive import AdditiveClassifier
    from discreet.learning.estimators.classifiers import LinearSVC, LogisticRegression

__all__ = [
    "AdaptiveClipping",
    "AdditiveClassifier",
    "AutomaticClipping",
    "DecisionTree",
    "FlatClipping",
    "LinearFit",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "PerLayerClipping",
    "PosteriorFit",
    "PosteriorRegression",
    "Split",
    "TreeFit",
    "private",
]

publish(
    __name__,
    homes={
        "AdaptiveClipping": "discreet.learning.deep.clipping",
        "AdditiveClassifier": "discreet.learning.estimators.additive",
        "AutomaticClipping": "discreet.learning.deep.clipping",
        "FlatClipping": "discreet.learning.deep.clipping",
        "LinearSVC": "discreet.learning.estimators.classifiers",
        "LogisticRegression": "discreet.learning.estimators.classifiers",
        "PerLayerClipping": "discreet.learning.deep.clipping",
        "private": "discreet.learning.deep.private",
    },
)
