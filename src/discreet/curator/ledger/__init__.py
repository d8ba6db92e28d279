"""The ledger: an append-only, hash-chained log of decisions that survives crashes.

- `open_store`: a file (`sqlite`), or a PostgreSQL database (`postgres`).
- `Ledger`: one exclusive, durable decision at a time, by a rule over the state that its entries fold into.
- `Entry`, `Anchor`, `VerificationReport`: what is recorded, where it ended, and what verifying it found.

Proof: docs/proofs/ledger.md.
"""

from discreet.curator.ledger.canonical_json import Body, JsonValue
from discreet.curator.ledger.chain import Fold
from discreet.curator.ledger.entry import Anchor, Entry
from discreet.curator.ledger.ledger import Decided, Ledger
from discreet.curator.ledger.open_store import open_store
from discreet.curator.ledger.store import Reader, Store, Writer
from discreet.curator.ledger.verification import VerificationReport, verify_export
from discreet.exports import publish

__all__ = [
    "Anchor",
    "Body",
    "Decided",
    "Entry",
    "Fold",
    "JsonValue",
    "Ledger",
    "Reader",
    "Store",
    "VerificationReport",
    "Writer",
    "open_store",
    "verify_export",
]

publish(__name__)
