"""Corpora -> training examples."""
