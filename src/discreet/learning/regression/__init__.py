"""Regression from noisy sufficient statistics, and by samples of a posterior."""
