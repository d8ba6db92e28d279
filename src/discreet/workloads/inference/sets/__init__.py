"""Convex sets that counts are known to lie in."""
