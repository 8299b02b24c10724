"""Chunks of a data set -> batches of tokens, in reading order:

example       a chunk as source and target tokens, with the classes of its slots
history       T5's targets, and what the decoder reads of what is written before
disfluencies  recognition errors and disfluencies that are put in, and disfluencies that transcribers left in
batches       examples of about one length, padded: the data of a run
"""
