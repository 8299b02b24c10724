"""Models for inference: read from their folders without transformers, which takes longer to import than to use.

modules   the modules of a T5 and of encoders of BERT's kind, whose weights have the names that transformers gives them
network   a folder -> a network
pieces    a folder -> a tokenizer

What they cannot read, transformers reads (`model.load`).
"""
