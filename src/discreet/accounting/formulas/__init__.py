"""Closed forms and sums that the bounds rest on."""
