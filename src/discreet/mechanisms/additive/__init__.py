"""Noise added to numbers: Laplace and Gaussian, on integers and on grids."""
