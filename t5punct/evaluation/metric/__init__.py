"""The scores as a local module of the `evaluate` library."""
