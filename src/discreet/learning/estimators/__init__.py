"""Estimators with the face of scikit-learn."""
