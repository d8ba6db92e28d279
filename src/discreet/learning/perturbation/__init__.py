"""Perturbation: private empirical risk minimization by noise on the minimizer, or on what is minimized."""
