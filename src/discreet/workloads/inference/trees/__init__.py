"""Least squares over trees of counts, in linear time."""
