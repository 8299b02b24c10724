"""A pre-trained BERT as the start of a T5: bert -> calibration -> conversion -> warmstart."""
