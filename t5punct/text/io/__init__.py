"""Files and pipes: what is read and written, whatever is in it.

files    text read safely; files and folders written whole or not at all; standard output
live     words of a live source as they arrive
iwslt    IWSLT's punctuation files
"""
