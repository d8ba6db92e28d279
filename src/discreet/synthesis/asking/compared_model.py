"""What a compared model is, as one hash: the tables that meet the data, in the steps in which they meet them.

A distance is a function of the exact table and of the model's table in whole steps. So two questions whose
models have the same hash have the same law, and whatever made one model differ from another, such as a fact,
a variance or how cells were joined, changes it where it changes a table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

import numpy as np

from discreet.array_types import Floats
from discreet.curator.ledger import JsonValue
from discreet.synthesis.measuring.steps import estimate_steps
from discreet.synthesis.models.measured import MeasuredTable

__all__ = ["model_digest"]


def model_digest(
    words: Sequence[JsonValue], measured: Iterable[MeasuredTable], tables: Iterable[Floats]
) -> str:
    """Return a hash of what a report shows besides distances, of what was measured, and of compared tables.

    Tables are rounded to steps first: the last bits of a fit differ between machines.
    """
    counts: list[JsonValue] = [
        [list(one.columns), np.asarray(one.counts).reshape(-1).tolist()] for one in measured
    ]
    held = hashlib.sha256(json.dumps([*words, counts], separators=(",", ":")).encode())
    for table in tables:
        steps = np.ascontiguousarray(estimate_steps(table), np.dtype("<i8"))
        held.update(f"|{steps.shape}|".encode() + steps.tobytes())
    return held.hexdigest()
