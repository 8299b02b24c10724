"""What tiny models are made of: their shape, and the text they see."""

import random
from typing import Any

from from_scratch import Shape

TINY_SHAPE = Shape(d_model=32, d_kv=8, num_heads=4, d_ff=64, num_layers=2, num_decoder_layers=2, dropout_rate=0.0)
_VOCABULARY = (
    "we know that this is right what how are you today well i think it's time to go don't stop now "
    "he said she came from the big house and asked me why not please tell us more about your work"
)


def tiny_text(n_sentences: int, seed: int) -> list[str]:
    """Sentences of common words in random order, with marks and capitals."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(n_sentences):
        words = rng.choices(_VOCABULARY.split(), k=rng.randint(3, 12))
        words[len(words) // 2] += rng.choice(["", ",", ",", ";", ":", " -"])
        sentences.append(" ".join(words).capitalize() + rng.choice(["?", ".", ".", "!", "...", "?!"]))
    return sentences


def t5_network(kind: str, **shape: Any) -> Any:
    """A T5 with random weights, of the kind that config.json names: t5, mt5 or umt5."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    return AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model(kind, **shape))
