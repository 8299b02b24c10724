"""How near a converted encoder is to the BERT it came from: cosine of their states behind each layer.

`python benchmarks/warmstart.py SOURCE --text TALKS --held-out OTHER` prints a table: both without positions (the BERT's
mean position, no relative biases), and as they are.  The layers' outputs are compared without their mean, on text that
the conversion has not seen.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Console
from transformers import AutoTokenizer

from t5punct.errors import T5PunctError
from t5punct.t5.task import ENCODER_TASK
from t5punct.warmstart.bert import Bert
from t5punct.warmstart.calibration import centred
from t5punct.warmstart.warmstart import WarmStartConfig, calibration_windows, warm_start


@dataclass(frozen=True)
class Row:
    """Mean cosines behind one layer."""

    layer: int
    without_positions: float
    with_positions: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("source")
    parser.add_argument("--text", required=True)
    parser.add_argument("--held-out", required=True)
    parser.add_argument("--tokens", type=int, default=4000)
    options = parser.parse_args()
    try:
        rows = measured(options.source, options.text, options.held_out, options.tokens)
    except T5PunctError as error:
        parser.exit(2, f"{error}\n")
    Console(soft_wrap=True).print(table(rows))


@torch.no_grad()
def measured(source: str, text: str, held_out: str, n_tokens: int) -> list[Row]:
    """One row a layer."""
    bert = Bert.load(source)
    network = warm_start(WarmStartConfig(source, text), ENCODER_TASK).network
    windows = calibration_windows(
        WarmStartConfig(source, held_out, calibration_tokens=n_tokens), AutoTokenizer.from_pretrained(source)
    )
    with_positions = _cosines(bert, network, windows, positions=True)
    for block in network.encoder.block:
        block.layer[0].SelfAttention.relative_attention_bias.weight.data.zero_()
    without = _cosines(bert, network, windows, positions=False)
    return [Row(*row) for row in zip(range(1, len(without) + 1), without, with_positions, strict=True)]


def _cosines(bert: Bert, network: Any, windows: Sequence[torch.Tensor], *, positions: bool) -> list[float]:
    """Mean over the words' tokens, behind each layer."""
    sums = torch.zeros(len(bert.layers))
    for ids in windows:
        states: list[torch.Tensor] = []
        hooks = [block.register_forward_hook(_keep(states)) for block in network.encoder.block]
        network.encoder(input_ids=ids)
        for hook in hooks:
            hook.remove()
        for index, (hidden, trace) in enumerate(zip(states, bert.trace(ids, positions=positions), strict=True)):
            cosine = torch.cosine_similarity(hidden[..., : bert.d_model], centred(trace.y), dim=-1)
            sums[index] += cosine[0, 1:-1].mean()
    values: list[float] = (sums / len(windows)).tolist()
    return values


def _keep(states: list[torch.Tensor]) -> Any:
    def hook(_module: Any, _inputs: Any, output: Any) -> None:
        states.append(output[0] if isinstance(output, tuple) else output)

    return hook


def table(rows: Sequence[Row]) -> str:
    lines = ["| layer | without positions | with positions |", "| --- | --- | --- |"]
    lines += [f"| {row.layer} | {row.without_positions:.2f} | {row.with_positions:.2f} |" for row in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
