"""Synthetic data: rows of a model that was made of noisy marginals, and of nothing else.

A synthesizer is built from public facts: what is declared about every column, and a budget. It chooses and
measures tables of counts; models and rows are computed from these.

- `Independent`: every column by itself.
- `SpanningTree`: the pairs of columns that depend on each other most, as a tree.
- `Adaptive`: round by round, what the model so far gets most wrong.

A curator does the same in one charge: ``clinic.synthesize("visits", ["age", "city"], rho=0.01)``.
`fidelity` compares synthetic rows with real ones, for the owner: it is not private.
"""

from discreet.exports import publish
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.methods.adaptive import Adaptive
from discreet.synthesis.methods.independent import Independent
from discreet.synthesis.methods.spanning_tree import SpanningTree
from discreet.synthesis.release.fidelity import Fidelity, fidelity
from discreet.synthesis.release.synthetic_data import SyntheticData

__all__ = [
    "Adaptive",
    "CodedColumns",
    "Fidelity",
    "Independent",
    "SpanningTree",
    "SyntheticData",
    "fidelity",
]

publish(__name__)
