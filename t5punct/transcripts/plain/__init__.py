"""What lines of plain text hold beside speech: heads (ids, times and labels at their start)."""
