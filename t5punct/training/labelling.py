"""`t5punct label`: a teacher predicts the marks and cases of a data set once, and they are stored (see `labels`).

Labelling that was stopped goes on where it was, since a file of labels is written whole or not at all.
Chunks that are not clearly in a language of a bundled teacher get no labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from .. import config as settings
from .. import model as models
from ..config import check
from ..decoding.inputs import batch_by_length
from ..errors import ConfigError
from ..model import Model, known_languages, with_precision
from ..t5.tagger import TAGGED_CASES, Tagger, states_at_words
from ..t5.weights import weights_fingerprint
from ..text.io.files import whole_file
from ..text.languages import guess_language
from .examples.batches import chunks_fingerprint, load_train, make_collator
from .examples.example import ChunkExamples, Example
from .labels import LABELS_FILE, ROWS_IN_PART, LabelsInfo, codes_of, part_name

OnWords = Callable[[int, int], None]  # called with how many words have labels so far, and how many there are


def label(
    data: str, teacher: str, output: str | None = None, *,
    batch_tokens: int = 4096, precision: str = "auto", tell: OnWords = lambda n_done, n_words: None,
) -> Path:  # fmt: skip
    """Label the split `train` of a data set, and return the folder: beside the data set, unless `output` names one.

    Raises ConfigError for a model without a tagger, and for labels in the folder that are of something else.
    """
    folder = Path(output or Path(data) / f"labels-{Path(teacher).name}")
    rows = load_train(data)
    model = models.load(teacher)
    tagger = model.tagger
    if tagger is None:
        raise ConfigError(f"{teacher} without a tagger", expected="a model that has one", fix="name another model")
    examples = ChunkExamples(rows, model.tokenizer)
    weights = weights_fingerprint(model.network.encoder, tagger)
    info = LabelsInfo(teacher, weights, chunks_fingerprint(rows), len(rows), list(tagger.mark_classes))
    model = with_precision(model, precision)
    info_file = folder / LABELS_FILE
    is_free = not info_file.is_file() or settings.load_plain(LabelsInfo, info_file) == info
    check(is_free, f"{folder}, which holds labels of another model or data set", expected="its own", fix="remove it")
    folder.mkdir(parents=True, exist_ok=True)
    settings.save(info, info_file)
    languages = known_languages(teacher)
    n_words = sum(rows["n_words"][:])
    n_done = 0
    for number, first in enumerate(range(0, len(rows), ROWS_IN_PART)):
        chunks = rows[first : first + ROWS_IN_PART]
        part_file = folder / part_name(number)
        if not part_file.is_file():  # else it was written before labelling was stopped
            sources = chunks["source"]
            is_known = [languages is None or guess_language(source.split()) in languages for source in sources]
            examples_of_part = [examples[first + index] for index in range(len(sources))]
            codes = _codes(model, tagger, examples_of_part, is_known, batch_tokens)
            ends = torch.tensor([len(codes_of_chunk) for codes_of_chunk in codes]).cumsum(0)
            with whole_file(part_file) as partial:
                save_file({"codes": torch.cat(codes), "ends": ends}, partial)
        n_done += sum(chunks["n_words"])
        tell(n_done, n_words)
    return folder


@torch.inference_mode()
def _codes(
    model: Model, tagger: Tagger, examples: Sequence[Example], is_known: Sequence[bool], batch_tokens: int
) -> list[torch.Tensor]:
    """Return the codes of each example's words, uint8 (n_words, n_codes), all 0 if the example is not `is_known`."""
    make = make_collator(model.tokenizer.pad_id)
    n_codes = len(tagger.mark_classes) + len(TAGGED_CASES)
    codes = [torch.zeros(len(example.word_ends), n_codes, dtype=torch.uint8) for example in examples]
    known = [index for index in range(len(examples)) if is_known[index]]
    for places in batch_by_length([len(examples[index].input_ids) for index in known], batch_tokens):
        indices = [known[place] for place in places]
        batch = make([examples[index] for index in indices]).to(model.device)
        states = model.encode(batch.input_ids, batch.attention_mask)
        logits = tagger(states_at_words(states, batch.word_ends))
        # (n_batch, n_words, n_codes); the logits are those of marks and of cases
        codes_of_batch = torch.cat([codes_of(each.float().softmax(-1)) for each in logits], -1).cpu()
        for index, codes_of_example in zip(indices, codes_of_batch, strict=True):
            codes[index] = codes_of_example[: len(codes[index])].clone()  # without the padding
    return codes
