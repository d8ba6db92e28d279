"""Quantiles, extremes and trimmed means, with their sensitivity profiles."""
