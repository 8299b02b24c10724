"""What is saved, kept and resumed, in reading order:

checkpoint       a folder that holds all that a run needs to go on, the best model and earlier checkpoints
plain            the weights to save, of adapters and shards too
optimiser_state  moments, steps and random state
resuming         which settings may change
lock             one run in a folder at a time
"""
