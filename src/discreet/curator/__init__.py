"""The curator: the one request path to private data, and the ledger that it pays first.

- `budget`: what may be spent, what was, and how ledger entries change it.
- `request`: what is asked, frozen before anything is charged; `table_records`: of which tables.
- `door`: charge, compute, add noise, store the answer, answer; `permit` for trusted code.
- `release`: what an answer will cost, what it is, what it promises, and how it prints.
- `ledger`: the durable record.
"""

from __future__ import annotations

from discreet.curator.budget.account import Account
from discreet.curator.budget.budget import Budget, offered
from discreet.curator.budget.renewal_calendar import Period
from discreet.curator.door import Door
from discreet.curator.permit import Permit
from discreet.curator.release.label import label_of, schema
from discreet.curator.release.preview import Preview
from discreet.curator.release.release import Release
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Output, Part, Request
from discreet.exports import publish

__all__ = [
    "Account",
    "AnswerColumn",
    "Budget",
    "Door",
    "Draw",
    "Expectation",
    "Output",
    "Part",
    "Period",
    "Permit",
    "Preview",
    "Release",
    "Request",
    "label_of",
    "offered",
    "schema",
]

publish(__name__)
