"""Limits and bounds that fit the data: bought with noisy counts by size, and applied to one question."""
