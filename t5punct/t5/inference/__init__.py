"""Models for inference: read from their folders without transformers, which takes longer to import than to use.

network   a folder -> a network, whose weights have the names that transformers gives them
pieces    a folder -> a tokenizer

What they cannot read, transformers reads (`model.load`).
"""
