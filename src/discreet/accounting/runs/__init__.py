"""Runs fixed in advance: steps, scenarios and parts, composed to epsilon and delta."""
