"""A generator behind the door: bounded rows in shards come in, counts and a public network go out."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats
from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.errors import LedgerTampered, ParameterError
from discreet.privacy.events import Event
from discreet.privacy.guarantees import ApproximateDP
from discreet.synthesis.generators.base import GeneratorSynthesizer
from discreet.synthesis.generators.g_pate import GPATE
from discreet.synthesis.generators.generated_data import GeneratedData
from discreet.synthesis.generators.generated_model import GeneratedModel, Layer
from discreet.synthesis.generators.pate_gan import PateGAN
from discreet.synthesis.models.measured import MeasuredTable

__all__ = ["GeneratorLearner"]

_NORMAL = 1.959964
"""How many deviations of normal noise are a margin of 95%."""
_STORED = np.dtype("<f4")
"""Networks are trained in these numbers: they are stored without loss."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneratorLearner(Learner):
    """Train a generator against teachers on shards, and keep counts and network as the answer.

    The cost of all rounds is charged before a row is read: what the gate charges for each round is a part of
    it. The networks are those of the library: no code of a user ever meets a row.

    Guarantee
    ---------
    That of the synthesizer: all rows of a person, at most `rows`, are in one shard, and what is drawn is a
    function of noisy counts and of noisy answers (proof: docs/proofs/generators.md, theorem 6).

    Finite precision
    ----------------
    As for `PateGAN`.

    Error
    -----
    See `expectations`.
    """

    kind: ClassVar[str] = "generator"

    synthesizer: GeneratorSynthesizer

    def __post_init__(self) -> None:
        if type(self.synthesizer) not in {PateGAN, GPATE}:
            raise ParameterError(
                "synthesizer", "is not one that was proven", "a PateGAN or a GPATE, unchanged"
            )

    @property
    def event(self) -> Event:
        """The law of the columns, and of all planned rounds of votes."""
        return self.synthesizer.event

    @property
    def guarantee(self) -> ApproximateDP:
        """What was stated."""
        return self.synthesizer.guarantee

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """The method, its numbers, and the cells of columns."""
        made = self.synthesizer
        cells: list[JsonValue] = [
            [column.name, column.cells, column.axis.width, column.has_missing]
            for column in made.domain.columns
        ]
        return {
            "method": type(made).__name__,
            "cells": cells,
            "teachers": made.teachers,
            "rounds": made.rounds,
            "queries": made.queries,
            "directions": getattr(made, "directions", None),
            "bins": getattr(made, "bins", None),
            "aggregation": repr(made.aggregation),
            "measured": bool(made.column_noises),
            "seed": made.seed,
            "rows": made.rows,
        }

    @property
    def words(self) -> str:
        """What it runs."""
        made = self.synthesizer
        first = "the counts of all columns, and " if made.column_noises else ""
        return (
            f"{first}{made.rounds:,} rounds of {made.queries:,} votes of {made.teachers:,} teachers, who "
            f"train against a generator ({type(made).__name__}); all of them are paid for now"
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table."""
        return self.synthesizer.domain.names

    @property
    def rows(self) -> int:
        """How many rows of a person it is made for."""
        return self.synthesizer.rows

    @property
    def shards(self) -> int:
        """One for each teacher."""
        return self.synthesizer.teachers

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return noisy counts of the columns, and the network that learned from noisy votes."""
        *held, shards = values
        found = self.synthesizer.release(dict(zip(self.columns, held, strict=True)), shards=shards)
        assert isinstance(found.model, GeneratedModel)  # noqa: S101
        return {
            "counts": [one.counts.reshape(-1).tolist() for one in found.measured],
            "layers": [[_written(layer.weights), _written(layer.bias)] for layer in found.model.layers],
            "total": found.model.total,
        }

    def finished(self, drawn: Drawn, *, private: bool) -> GeneratedData:
        """Return the synthetic table of what was drawn, or refuse what cannot have been."""
        made = self.synthesizer
        try:
            counts = [np.array(one, np.int64) for one in drawn["counts"]]
            layers = tuple(
                Layer(weights=_read(weights), bias=_read(bias)) for weights, bias in drawn["layers"]
            )
            total = float(drawn["total"])
        except (KeyError, TypeError, ValueError):
            raise LedgerTampered("a stored network is not one of its request") from None
        shape = made.domain.shape
        held = zip(counts, made.column_noises, strict=False)
        measured = tuple(
            MeasuredTable(columns=(place,), counts=one, variance=noise.variance)
            for place, (one, noise) in enumerate(held)
        )
        sizes = [len(one) for one in counts]
        if sizes != (list(shape) if made.column_noises else []) or not _fits(layers, sum(shape)):
            raise LedgerTampered("a stored network is not one of its request")
        return GeneratedData(
            domain=made.domain,
            measured=measured,
            model=GeneratedModel(shape=shape, layers=layers, total=total),
            method=type(made).__name__,
            private=private,
            guarantee=made.guarantee,
            event=made.event,
            rounds=made.rounds,
            planned=made.rounds,
        )

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return the noise on votes, and on counts of the columns."""
        made = self.synthesizer
        votes = float(made.aggregation.noise.sigma)  # type: ignore[attr-defined]
        found = [
            Expectation(
                name="votes for a generated row",
                margin=_NORMAL * votes,
                standard_deviation=votes,
                assumes=f"{made.teachers:,} teachers of about {max(rows // made.teachers, 1):,} rows each",
                means="noise in votes: where it exceeds the lead of teachers, the generator learns nothing",
            )
        ]
        if made.column_noises:
            counts = max(noise.variance for noise in made.column_noises) ** 0.5
            found.append(
                Expectation(
                    name="columns",
                    margin=_NORMAL * counts,
                    standard_deviation=counts,
                    assumes=f"{rows:,} rows",
                    means="of each noisy count",
                )
            )
        return tuple(found)


def _fits(layers: Sequence[Layer], cells: int) -> bool:
    """Whether layers follow on each other, and end in as many cells."""
    widths = [layer.weights.shape[0] for layer in layers if layer.weights.ndim == 2]
    return (
        len(widths) == len(layers) > 0
        and all(layer.bias.shape == (layer.weights.shape[1],) for layer in layers)
        and [layer.weights.shape[1] for layer in layers] == [*widths[1:], cells]
    )


def _written(numbers: Floats) -> dict[str, JsonValue]:
    """Write an array as text, to the last bit."""
    held = np.ascontiguousarray(numbers, _STORED)
    return {"shape": list(held.shape), "numbers": base64.b64encode(held.tobytes()).decode("ascii")}


def _read(written: Mapping[str, Any]) -> Floats:
    held = np.frombuffer(base64.b64decode(written["numbers"], validate=True), _STORED)
    shape = [int(size) for size in written["shape"]]
    if held.size != prod(shape):
        raise ValueError("an array of another size")
    return held.astype(np.float64).reshape(shape)
