"""Chunks of a data set -> batches of tokens, in reading order:

example       a chunk as source and target tokens, with the classes of its slots
history       T5's targets, and what the decoder reads as its own output so far
disfluencies  recognition errors and disfluencies that are put in, and the sign of disfluent words
batches       examples of about one length, padded: the data of a run
"""
