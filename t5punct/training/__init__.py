"""Fine-tuning: corpora in, a trained model folder out.  The rooms follow a run in time:

data        corpora -> a data set of chunks
examples    chunks -> batches of tokens, with errors, disfluencies and delays
start       the model that a run begins with, and what is fitted before its first step
loop        losses, steps, validation
checkpoint  what is saved, kept and resumed
report      the page, the curves and the card of a finished run

`config.py` holds the settings of all of them but those of `data`; `settings.py` reads what is typed of them.
`labelling.py` writes what a larger model predicts for every word, and `labels.py` reads it, for a smaller one to learn.
"""
