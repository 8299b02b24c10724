"""The network and its text form: files, tokens, task, tagger."""
