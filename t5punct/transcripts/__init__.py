"""Transcripts of every format: a file as words, with all that stands between them kept as it is.

What it is: items (words, what is between, silences), formats (which format a file has).
Readers: speech (also of plain text), subtitles, rolling, markup, tables; recogniser_json with json_strings,
json_places, json_marks, json_aligned and json_spelling.
From list to list: terms, paragraphs, cues, resegment.
Writers: writers (any format), words_out (tables of words), review (a page).
"""
