"""Transcripts of every format: a file as words, with all that stands between them kept as it is.

What it is: items (words, what is between, silences), formats (the table of them all, and which a file has).
Readers: speech (also of plain text), subtitles, rolling, markup, tables; plain/ (what opens lines), recogniser/ (json).
From list to list: terms, paragraphs, resegment.
Writers: writers (any format), subtitles, words_out (tables of words), review (a page).
"""
