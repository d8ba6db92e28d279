"""Trees whose splits are chosen privately."""
