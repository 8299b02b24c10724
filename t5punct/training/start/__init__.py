"""The model that a run begins with, in reading order:

starting_model  of a checkpoint, of `init_from` with some layers or all, or with random weights; new marks;
                whether data, tokenizer and model suit each other
from_encoder    a pre-trained encoder under a fresh T5 decoder, one that copies words if asked
"""
