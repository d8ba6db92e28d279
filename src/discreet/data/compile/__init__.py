"""Expressions and relations of the language, written in Ibis."""
