"""Statements made of several answers: what is calculated from released tables, and what holds of it."""
