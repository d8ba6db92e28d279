"""What a store says when it fails: fixed sentences, never the words of an engine.

Engines quote paths, keys and values in their messages. None of that leaves: every fault becomes one
of these sentences.
"""

from __future__ import annotations

__all__ = [
    "ANCHOR",
    "DAMAGED",
    "EXPORT",
    "FAILED",
    "FULL",
    "INSIDE_FORK",
    "LOCKED",
    "MISSING",
    "NOT_DURABLE",
    "READ_ONLY",
    "UNREACHABLE",
]

LOCKED = "others have held the ledger for too long; ask again later"
FULL = "there is no space left where the ledger is kept; free some space and ask again"
READ_ONLY = "the ledger may not be written: it, its directory or its server is read-only"
DAMAGED = "the ledger is damaged; restore its latest copy and verify it against an anchor"
MISSING = "there is no ledger at this location"
UNREACHABLE = "the ledger cannot be opened; check its directory, its permissions or its server"
FAILED = "the ledger could not be read or written; ask again with the same key, which never charges twice"
NOT_DURABLE = (
    "the server does not write through to its disk (fsync is off), so that nothing it keeps is durable"
)
INSIDE_FORK = (
    "this process was forked inside a transaction of the ledger; fork elsewhere, or start a new process"
)
ANCHOR = "the anchor of the ledger could not be read or written"
EXPORT = "the exported file could not be read or written"
