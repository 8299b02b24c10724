"""Leave out of a model's folder what the folder of another model holds as well: weights in int8 that are the same.

In: two folders of models in int8, which ship beside each other.  Out: the first without the common weights, and with
`shared-weights.json`, which says where they are.

    python recipes/share_weights.py t5punct/models/base t5punct/models/large
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from t5punct.t5.folder import SHARED_FILE, int8_files, writing_folder


def share_weights(folder: Path, other: Path) -> int:
    """Leave out the weights that `other` holds, and return how many bytes they had.  A file that has none stays."""
    held = {name: (file, tensor) for file in int8_files(other) for name, tensor in load_file(file).items()}
    shared = dict[str, list[str]]()
    n_bytes = 0
    with writing_folder(folder):
        for file in int8_files(folder):
            tensors = load_file(file)
            common = [name for name, tensor in tensors.items() if name in held and _is_same(tensor, held[name][1])]
            for name in common:
                shared.setdefault(os.path.relpath(held[name][0], folder), []).append(name)
                n_bytes += tensors.pop(name).nbytes
            if common:
                save_file(tensors, file, metadata={"format": "pt"})
        (folder / SHARED_FILE).write_text(json.dumps(shared, indent=2) + "\n", encoding="utf-8")
    return n_bytes


def _is_same(tensor: torch.Tensor, other: torch.Tensor) -> bool:
    return tensor.dtype == other.dtype and torch.equal(tensor, other)


def main() -> None:
    """Share the weights of two folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the model that leaves out what is common")
    parser.add_argument("other", type=Path, help="the model that keeps it")
    arguments = parser.parse_args()
    n_bytes = share_weights(arguments.folder, arguments.other)
    print(f"{arguments.folder}: {n_bytes / 1e6:.1f} MB are read from {arguments.other}")


if __name__ == "__main__":
    main()
