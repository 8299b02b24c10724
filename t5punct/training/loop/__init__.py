"""Losses and steps, in reading order:

train       the loop: steps, validations, checkpoints
run         everything that a run needs, loaded or made; AdamW and its schedule
objective   what is minimised
validation  losses and scores on held-out text, and which model is the best so far
progress    the bar and the log, the same for TensorBoard and others
"""
