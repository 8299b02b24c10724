"""Readers and writers of files with words in them, one module for each format."""
