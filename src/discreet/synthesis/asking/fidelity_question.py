"""The request for a private fidelity report: the tables of a released model, counted again in the data."""

from __future__ import annotations

from fractions import Fraction

from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import ContingencyTable, Group
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.privacy.rational import whole
from discreet.synthesis.asking.synthesis_release import SynthesisRelease
from discreet.synthesis.asking.table_distances import TableDistances
from discreet.synthesis.asking.table_synthesis import TableSynthesis
from discreet.synthesis.measuring.stated_rho import StatedRho

__all__ = ["fidelity_request"]


def fidelity_request(
    made: SynthesisRelease, offer: Offer, ways: int, confidence: Fraction
) -> TabulatedRequest:
    """Return the request that an offer buys: about the rows that the synthetic table was made of."""
    if not isinstance(made, SynthesisRelease):
        raise ParameterError("made", "is not a synthetic table of a curator", "what synthesize returned")
    asked = made.measured.request
    assert isinstance(asked, TabulatedRequest)  # noqa: S101
    assert isinstance(asked.mechanism, TableSynthesis)  # noqa: S101
    assert isinstance(asked.plan, Group)  # noqa: S101
    many = whole(ways, "ways", least=1, most=2)
    rows = asked.mechanism.synthesizer.rows
    mechanism = TableDistances.costing(made.data, StatedRho.of(offer).rho, rows, many)
    columns = made.data.domain.columns
    measures = tuple(
        ContingencyTable(axes=tuple(columns[column].axis for column in chosen)) for chosen in mechanism.sets
    )
    return TabulatedRequest(
        plan=Group(source=asked.plan.source, present=asked.plan.present, measures=measures),
        versions=asked.versions,
        mechanism=mechanism,
        confidence=confidence,
    )
