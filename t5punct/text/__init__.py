"""Words, marks and case: what a text is made of, read and written."""
