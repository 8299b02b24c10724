"""Files with words in them: readers and writers, one file a format."""
