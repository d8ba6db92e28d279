"""A ledger in PostgreSQL."""
