"""Chunks of a data set -> batches of tokens, in reading order:

lengths       how many tokens each chunk has, counted once
example       a chunk as source and target tokens, with the classes of its slots
noise         recognition errors
disfluencies  fillers, repetitions and repairs that are put in, and those that transcribers left in
batches       examples of about one length, padded
loading       all of these as the data of a run
"""
