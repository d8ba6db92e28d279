"""Synthetic data: rows of a model that was made of noisy marginals, and of nothing else.

A synthesizer is built from public facts: what is declared about every column, and a budget. It chooses and
measures tables of counts; models and rows are computed from these.

- `Independent`: every column by itself.
- `SpanningTree`: the pairs of columns that depend on each other most, as a tree.
- `Adaptive`: round by round, what the model so far gets most wrong.
- `PateGAN`, `GPATE`: a generator network behind teachers that vote (`discreet[learn-torch]`).

A curator does the same in one charge: ``clinic.synthesize("visits", ["age", "city"], rho=0.01)``; and
``clinic.synthesize_related`` makes two related tables, persons and events of each. `fidelity` and
`related_fidelity` compare synthetic rows with real ones, for the owner: they are not private.
"""

from typing import TYPE_CHECKING

from discreet.exports import publish
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.methods.adaptive import Adaptive
from discreet.synthesis.methods.independent import Independent
from discreet.synthesis.methods.spanning_tree import SpanningTree
from discreet.synthesis.related.related_data import RelatedData
from discreet.synthesis.related.related_fidelity import RelatedFidelity, related_fidelity
from discreet.synthesis.release.fidelity import Fidelity, fidelity
from discreet.synthesis.release.synthetic_data import SyntheticData

if TYPE_CHECKING:
    from discreet.synthesis.generators.g_pate import GPATE
    from discreet.synthesis.generators.generated_data import GeneratedData
    from discreet.synthesis.generators.pate_gan import PateGAN

__all__ = [
    "GPATE",
    "Adaptive",
    "CodedColumns",
    "Fidelity",
    "GeneratedData",
    "Independent",
    "PateGAN",
    "RelatedData",
    "RelatedFidelity",
    "SpanningTree",
    "SyntheticData",
    "fidelity",
    "related_fidelity",
]

publish(
    __name__,
    homes={
        "GPATE": "discreet.synthesis.generators.g_pate",
        "GeneratedData": "discreet.synthesis.generators.generated_data",
        "PateGAN": "discreet.synthesis.generators.pate_gan",
    },
)
