"""Windows over a text, the votes they give, and what becomes of them."""
