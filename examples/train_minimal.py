"""Fine-tune a model in one page: data set, batches, losses, steps, a folder that `t5punct punctuate --model` takes.

    t5punct prepare corpora='[{path: mine.txt}]' output=prepared/mine
    python examples/train_minimal.py prepared/mine small runs/mine 300

It is `t5punct train` on one process without what long runs need: checkpoints, validation, bf16, several devices.
"""

import sys
from dataclasses import replace
from pathlib import Path

import torch
from datasets import load_from_disk
from torch.utils.data import DataLoader
from transformers import get_scheduler, set_seed

from t5punct import model as models
from t5punct.model import Model
from t5punct.training.config import LossConfig
from t5punct.training.examples.batches import BatchSampler, make_collator
from t5punct.training.examples.example import ChunkExamples
from t5punct.training.loop.objective import Objective

SEED = 1


def fine_tune(model: Model, data: str, n_steps: int, *, lr: float, warmup_steps: int, batch_tokens: int) -> Model:
    """Return the model after `n_steps` of AdamW on the chunks of a prepared data set."""
    examples = ChunkExamples(load_from_disk(data)["train"], model.tokenizer, seed=SEED)
    sampler = BatchSampler(examples.lengths, batch_tokens, SEED)
    loader = DataLoader(examples, batch_sampler=sampler, collate_fn=make_collator(model.tokenizer.pad_id))
    model.network.set_attn_implementation("eager")  # with gradients a quarter faster on a CPU
    objective = Objective(model, LossConfig(tagger_weight=float(model.tagger is not None))).train()
    if objective.tagger is not None:
        objective.tagger.requires_grad_(True)  # one that was loaded does not learn of itself
    parameters = [parameter for parameter in objective.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    schedule = get_scheduler("linear", optimiser, warmup_steps, n_steps)
    step = epoch = 0
    while step < n_steps:
        examples.epoch = epoch
        sampler.set_position(epoch)
        for batch in loader:
            losses = objective(batch)
            losses.total.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            step += 1
            if step == n_steps:
                break
        epoch += 1
    model.network.eval()
    return replace(model, tagger=objective.tagger)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(f"usage: python {sys.argv[0]} DATA START OUTPUT STEPS")
    data, source, output, n_steps = sys.argv[1:]
    set_seed(SEED)
    tuned = fine_tune(models.load(source), data, int(n_steps), lr=1e-4, warmup_steps=20, batch_tokens=3072)
    models.save(tuned, Path(output))
