"""Counts, scores and their uncertainty.  Compares marks; never sees a model."""
