"""Corpora -> a data set of chunks."""
