"""Fine-tuning: corpora in, a trained model folder out.  In the order of a run:

config          the settings of a run
data/           corpora -> a data set of chunks: `prepare` does it all, by `corpora`, `spellings`
labelling       what a larger model predicts for every word of a data set; `labels` reads it, for a smaller one to learn
examples/       chunks -> batches of tokens: `example`; errors and `disfluencies`; `batches`
starting_model  the model that a run begins with, with the marks that it will learn
loop/           `train`: a run and its steps; `objective`: the losses; `validation`; `progress`: the log
checkpoint      what is saved and resumed: a model, and the `tensors` of the run; `lock`: one run in a folder at a time
report          the page of a finished run, and the card of its model
"""
