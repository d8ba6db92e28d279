"""Least squares over convex sets."""
