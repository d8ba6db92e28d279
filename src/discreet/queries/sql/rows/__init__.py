"""Which rows a SELECT is about: FROM, WHERE, subqueries, and windows within a person."""
