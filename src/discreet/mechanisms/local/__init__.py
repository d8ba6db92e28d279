"""Randomized answers of persons themselves, and frequencies estimated from them."""
