"""The request for a private fidelity report: the tables of released models, counted again in the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.curator.request.tabulated_request import TableMechanism, TabulatedRequest
from discreet.data import ContingencyTable, Group, Relation
from discreet.data.language.measures import Axis
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.privacy.rational import whole
from discreet.synthesis.asking.generator_release import GeneratorRelease
from discreet.synthesis.asking.related_distances import RelatedDistances
from discreet.synthesis.asking.related_release import RelatedRelease
from discreet.synthesis.asking.related_synthesis import RelatedSynthesis
from discreet.synthesis.asking.synthesis_release import SynthesisRelease
from discreet.synthesis.asking.table_distances import TableDistances
from discreet.synthesis.asking.table_synthesis import TableSynthesis
from discreet.synthesis.measuring.stated_rho import StatedRho
from discreet.synthesis.release.synthetic_data import SyntheticData

__all__ = ["AnySynthesis", "fidelity_request"]

AnySynthesis: TypeAlias = SynthesisRelease | GeneratorRelease | RelatedRelease
"""What a fidelity report may be about."""
_SAY = "what synthesize, synthesize_related or train_generator returned"


def fidelity_request(
    made: AnySynthesis | Sequence[AnySynthesis], offer: Offer, ways: int, confidence: Fraction
) -> TabulatedRequest:
    """Return the request that an offer buys: about the rows that synthetic tables were made of.

    Of several, all are compared with the same rows. A generator is compared beside the model of the columns
    that it began with.
    """
    listed = tuple(made) if isinstance(made, list | tuple) else (made,)
    many = whole(ways, "ways", least=1, most=2)
    rho = StatedRho.of(offer).rho
    if len(listed) == 1 and isinstance(listed[0], RelatedRelease):
        return _of_related(listed[0], rho, many, confidence)
    counted = [_counted(one) for one in listed]
    if not counted or any(one.read != counted[0].read for one in counted):
        raise ParameterError("made", "are not made of the same rows", "synthetic tables of one table's rows")
    models = _models(listed)
    mechanism = TableDistances.costing(models[0], rho, counted[0].rows, many, models[1:])
    columns = models[0].domain.columns
    measures = tuple(
        ContingencyTable(axes=tuple(columns[column].axis for column in chosen)) for chosen in mechanism.sets
    )
    plan = Group(source=counted[0].source, present=counted[0].present, measures=measures)
    return _request(plan, (), counted[0].versions, mechanism, confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """Which rows a synthetic table was made of."""

    source: Relation
    present: tuple[Axis, ...]
    versions: tuple[tuple[str, str], ...]
    rows: int

    @property
    def read(self) -> tuple[object, ...]:
        return self.source, self.present, self.versions


def _counted(made: AnySynthesis) -> _Counted:
    if isinstance(made, GeneratorRelease):
        fitted = made.fit.request
        return _Counted(
            source=fitted.plan.source, present=(), versions=fitted.versions, rows=fitted.plan.rows
        )
    if not isinstance(made, SynthesisRelease):
        raise ParameterError("made", "is not a synthetic table of a curator", _SAY)
    asked = made.measured.request
    assert isinstance(asked, TabulatedRequest)  # noqa: S101
    assert isinstance(asked.mechanism, TableSynthesis)  # noqa: S101
    assert isinstance(asked.plan, Group)  # noqa: S101
    return _Counted(
        source=asked.plan.source,
        present=asked.plan.present,
        versions=asked.versions,
        rows=asked.mechanism.synthesizer.rows,
    )


def _models(listed: Sequence[AnySynthesis]) -> tuple[SyntheticData, ...]:
    """Return what is compared; after each generator, the columns that it began with."""
    found: list[SyntheticData] = []
    for one in listed:
        assert isinstance(one, SynthesisRelease | GeneratorRelease)  # noqa: S101
        found.append(one.data)
        alone = one.columns_alone if isinstance(one, GeneratorRelease) else None
        if alone is not None:
            found.append(alone)
    return tuple(found)


def _of_related(made: RelatedRelease, rho: Fraction, ways: int, confidence: Fraction) -> TabulatedRequest:
    asked = made.measured.request
    assert isinstance(asked, TabulatedRequest)  # noqa: S101
    assert isinstance(asked.mechanism, RelatedSynthesis)  # noqa: S101
    mechanism = RelatedDistances.costing(made.data, rho, asked.mechanism.synthesizer.events.rows, ways)
    people, own = made.data.persons.domain.columns, made.data.events.columns
    plans = [
        Group(
            source=plan.source,
            measures=tuple(
                ContingencyTable(axes=tuple(columns[column].axis for column in chosen)) for chosen in sets
            ),
        )
        for plan, columns, sets in zip(
            asked.plans,
            (people, (*people, *own)),
            (mechanism.person_sets, mechanism.event_sets),
            strict=True,
        )
    ]
    return _request(plans[0], (plans[1],), asked.versions, mechanism, confidence)


def _request(
    plan: Group,
    further: tuple[Group, ...],
    versions: tuple[tuple[str, str], ...],
    mechanism: TableMechanism,
    confidence: Fraction,
) -> TabulatedRequest:
    return TabulatedRequest(
        plan=plan, further=further, versions=versions, mechanism=mechanism, confidence=confidence
    )
