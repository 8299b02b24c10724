"""Transcripts of every format: a file as words, with all that stands between them kept as it is.

What it is: items (words, what is between, silences), formats (the table of them all, and which a file has).
Readers: speech (also of plain text; tags), heads (what opens lines), markup (Markdown, HTML), subtitles, tables;
recogniser/ (json).  From list to list: terms, resegment.
Writers: writers (any format; paragraphs), subtitles, tables (also words as json), review (a page).
"""
