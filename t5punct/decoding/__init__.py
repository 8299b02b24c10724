"""Decoders: windows of words -> votes (slots) or text (generate).

A decoder knows tokens and slots, never documents.
"""
