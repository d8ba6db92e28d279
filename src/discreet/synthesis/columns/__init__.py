"""Columns as codes, and back."""
