"""Checks that a mechanism keeps what it promises, usable on any object with a `release`.

`check_mechanism` runs them all and returns a `Report`:

- `enumeration`: the implemented law at neighboring inputs, exactly, against the claim;
- `best_event`: a lower bound on epsilon from samples alone;
- `fit`: fresh releases against the law they should follow;
- `precision`: what the low-order bits of floats give away;
- `timing`: whether time follows noise;
- `clones`: whether copies and forked processes repeat noise.

`check_model` attacks trained models, by canaries that took part or not, and returns a `ModelReport`;
`rank_exposure` and `fitted_exposure` say what a model remembers of a planted secret.
"""

from __future__ import annotations

from discreet.audit.check import check_mechanism
from discreet.audit.enumeration import OutputLaw, output_law
from discreet.audit.exposure import Exposure, fitted_exposure, rank_exposure
from discreet.audit.membership import Membership
from discreet.audit.model_report import ModelReport
from discreet.audit.models import check_model
from discreet.audit.report import AuditFailed, Finding, Report
from discreet.audit.words import NotEnumerable, WordLaw, word_law
from discreet.exports import publish

__all__ = [
    "AuditFailed",
    "Exposure",
    "Finding",
    "Membership",
    "ModelReport",
    "NotEnumerable",
    "OutputLaw",
    "Report",
    "WordLaw",
    "check_mechanism",
    "check_model",
    "fitted_exposure",
    "output_law",
    "rank_exposure",
    "word_law",
]

publish(__name__)
