"""What a fit released: the numbers of a model, and what they promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.curator.request.fit_request import FitRequest
from discreet.curator.request.learner import Drawn

__all__ = ["FitRelease"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FitRelease:
    """The answer of a fit. Everything in it is public and may be processed freely.

    Attributes
    ----------
    request : FitRequest
        What was asked.
    drawn : mapping
        What the learner drew; a model is rebuilt from it.
    label : mapping
        A machine-readable statement of the guarantee; see `discreet.curator.release.label`.
    stored : bool
        Whether it was read from the ledger's store: then nothing was spent for it this time.
    """

    request: FitRequest
    drawn: Drawn
    label: Mapping[str, object]
    stored: bool = False
