"""Counts, scores and their uncertainty.  Compares labels; never sees a model."""
