"""Expressions, functions, literals and aggregates of SQL."""
