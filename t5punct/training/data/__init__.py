"""Corpora -> a data set of chunks, in reading order:

prepare      `t5punct prepare`: all of it
corpus       the settings of one corpus
sources      where documents come from
readers      what a file of each format holds as documents
survey       what a corpus holds, counted in one pass
corpora      which documents and which share are taken
chunks       documents -> windows of words
vocabulary   a new tokenizer
folder       the data set's folder
contents     what a data set holds, for its report and the picture in it
"""
