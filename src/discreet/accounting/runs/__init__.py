"""Runs fixed ahead: steps, scenarios and parts, composed to epsilon and delta."""
