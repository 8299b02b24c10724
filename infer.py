"""Punctuate text: `python infer.py [INPUT...]`, the same as `t5punct punctuate`."""

import sys

from t5punct.__main__ import main

if __name__ == "__main__":
    main(["punctuate", *sys.argv[1:]])
