"""Lines of text that hold more than speech: ids, times and labels at their start (heads), tables (sheets)."""
