"""Windows over a text, the votes they give, and how votes are combined."""
