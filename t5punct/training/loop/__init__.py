"""Losses, steps and validation."""
