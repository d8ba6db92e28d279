"""Sets of linear queries over a public domain."""
