"""Decoders: windows of words -> votes (slots) or text (generate).  A decoder knows tokens and slots, never documents.

In reading order; the first five make `slots`:

candidates      what may be written next
slots           slot decoding in parallel
draft           a window as it would be written, what a pass says of it, and the votes of its choices
cached_decoder  the decoder's passes, with what is settled kept, and logits of a few tokens
tagging         the tagger alone
paired_marks    opening marks with the ends that they ask for
generate        free generation
align           its text, projected onto the words
classify        questions about one slot
inputs          what a decoder is given, in batches, and its settings
"""
