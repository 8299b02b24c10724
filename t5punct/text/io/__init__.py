"""Files and pipes.

files    reads text safely; writes files and folders whole or not at all; standard output
live     words of a live source as they arrive
iwslt    IWSLT's punctuation files
"""
