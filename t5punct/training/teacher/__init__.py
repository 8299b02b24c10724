"""What a larger model says, for a smaller one to learn, in reading order:

teacher    losses: the states and distributions of a model, or of labels
labels     a teacher's distributions on disk, a dozen bytes a word
labelling  `t5punct label`: a data set is read once, and labels are written
"""
