"""The model that a run begins with, in reading order:

starting_model  of a checkpoint, of `init_from` with some layers or all, or with random weights
from_encoder    a pre-trained encoder under a fresh T5 decoder
pieces          a vocabulary of many languages, cut to what a text needs
more_tokens     a sign that the model did not know, pieces for another language
suitability     whether data, tokenizer and model suit each other
fitting         a tagger, fitted on frozen states
lora            adapters in the place of all weights
blend           weights between two models, after training
"""
