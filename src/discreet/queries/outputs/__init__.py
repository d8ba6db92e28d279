"""Noisy integers and choices turned into values with intervals."""
