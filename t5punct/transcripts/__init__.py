"""Transcripts of every format: a file as words, with all that stands between them kept as it is."""
