"""The model that a run begins with: `starting_model`, and a fresh decoder on a pre-trained encoder, `from_encoder`."""
