"""Exact and fast linear algebra that strategies and inference share."""
