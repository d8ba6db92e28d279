"""Runs of Laplace steps, to ten digits.

- `transform`: one step along a line in the complex plane;
- `line`: what all integrals along such a line share;
- `atoms`: the sum over outcomes in which at most one loss lies between its two ends;
- `remainder`: the integral of all other outcomes;
- `smoothed`: one integral of all, where atoms are too many to sum;
- `concentration`: a lower bound for runs of any length;
- `run`: which of them serves, and the answer.

Proofs: docs/proofs/contour.md, lemmas 7 to 10.
"""

from discreet.accounting.laplace_runs.run import LaplaceRun
from discreet.exports import publish

__all__ = ["LaplaceRun"]

publish(__name__)
