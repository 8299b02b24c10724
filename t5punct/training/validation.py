"""Scores during training."""


class Validator:
    def __init__(self, config):
        self.config = config

    def run(self, run, progress):
        pass
