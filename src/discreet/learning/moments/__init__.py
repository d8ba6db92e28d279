"""Noisy moments of clipped rows, and what is made of them: means, variances, components, clusters."""
