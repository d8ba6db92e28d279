"""Learning: models whose training is private.

An estimator here is built from public facts alone, states its event and its guarantee before it
sees data, and releases a fit that may be used and shown freely.
"""

from discreet.exports import publish
from discreet.learning.linear_fit import LinearFit
from discreet.learning.linear_regression import LinearRegression

__all__ = ["LinearFit", "LinearRegression"]

publish(__name__)
