"""Learning: models whose training is private.

An estimator here is built from public facts alone, states its event and its guarantee before it
sees data, and releases a fit that may be used and shown freely.
"""

from discreet.exports import publish
from discreet.learning.decision_tree import DecisionTree
from discreet.learning.linear_fit import LinearFit
from discreet.learning.linear_regression import LinearRegression
from discreet.learning.posterior_fit import PosteriorFit
from discreet.learning.posterior_regression import PosteriorRegression
from discreet.learning.tree_fit import Split, TreeFit

__all__ = [
    "DecisionTree",
    "LinearFit",
    "LinearRegression",
    "PosteriorFit",
    "PosteriorRegression",
    "Split",
    "TreeFit",
]

publish(__name__)
