"""Chunks of a data set -> batches of tokens."""
