"""Train or fine-tune a model: `python train.py --config configs/NAME.yaml key=value ...`.

`accelerate launch train.py --config ...` runs the same on several devices.
"""

import sys

from t5punct.__main__ import main

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])
