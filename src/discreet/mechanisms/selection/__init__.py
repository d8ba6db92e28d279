"""The best of several candidates: exponential mechanism, permute-and-flip, noisy max, thresholds."""
