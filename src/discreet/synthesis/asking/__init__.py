"""Synthetic tables asked of a curator."""
