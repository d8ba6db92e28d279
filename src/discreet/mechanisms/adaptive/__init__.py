"""Mechanisms that adapt to the data at hand: smooth sensitivity, stability, propose-test-release."""
