"""Many files: which are to be punctuated, where each goes, and the work itself."""
