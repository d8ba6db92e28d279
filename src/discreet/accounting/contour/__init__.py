"""Integrals of sums of cumulants along a line in the complex plane, certified."""
