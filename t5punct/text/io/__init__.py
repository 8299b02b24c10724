"""Files and pipes: files (read safely, written whole or not at all), live (words as they arrive), iwslt."""
