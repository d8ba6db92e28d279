"""Runs of sampled and plain Gaussian steps, few or many, at any usual delta: losses on one lattice.

- `step`: one step, and the masses of its outcomes between any two losses, with their rounding;
- `cut`: its law moved to a lattice, never down (an upper bound) or never up (a lower bound);
- `window`: where to look, how to tilt, and where one step alone decides;
- `transform`: the law of the whole loss by one Fourier transform, and bounds on delta at every node;
- `run`: how fine the lattice is, both directions, and the answer.

Proofs: docs/proofs/lattice.md.
"""

from discreet.accounting.lattice_runs.run import LatticeRun
from discreet.exports import publish

__all__ = ["LatticeRun"]

publish(__name__)
