"""Corpora -> a data set of chunks, in reading order:

prepare     `t5punct prepare`: all of it, and the report of a data set
readers     the settings of a corpus, and what a file of each format holds as documents
corpora     documents in a table on the disk; which of them and which share are taken
chunks      documents -> windows of words, and their lengths in tokens
spellings   words that a text nearly always writes in one way
"""
