"""A BERT's WordPiece tokenizer becomes a T5's, with new tokens for marks, case, styles and sentinels.

In: a fast BERT tokenizer and a task.  Out: a tokenizer with the same ids; some unused tokens get new names.

`[CLS] we know [SEP]` becomes `<talk> we know [SEP]`: the end is `[SEP]`, padding `[PAD]`, and a style stands where
`[CLS]` stood.  Marks are not the same tokens as the characters inside words, so `state-of-the-art` has no dash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ModelError, first_line
from ..t5.hub import locate
from ..t5.task import CASE_TOKENS, N_SENTINELS, TaskConfig, mark_token, style_token

_UNUSED = re.compile(r"\[unused\d+\]")
_FILES = ("tokenizer.json", "vocab.txt")  # either is enough
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A token of the task, its id, and the token whose embedding it starts from."""

    token: str
    id: int
    like: str


def bert_tokenizer(source: str | Path) -> Any:
    """Return the tokenizer of a BERT's folder or hub id.  Raises ModelError if there is none."""
    from transformers import AutoTokenizer

    folder, expected = locate(source, "tokenizer"), "the tokenizer that the BERT was trained with"
    if not any((folder / name).is_file() for name in _FILES):  # then transformers makes an empty one
        raise ModelError(f"no {' or '.join(_FILES)} in {source}", expected=expected, fix="copy it into the folder")
    try:
        return AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:  # what a damaged file raises has no common base
        why = f"a tokenizer in {source} that cannot be read ({first_line(error)})"
        raise ModelError(why, expected=expected, fix="copy its files anew") from error


def t5_tokenizer(bert_tokenizer: Any, task: TaskConfig) -> tuple[Any, list[TaskRow]]:
    """Return the tokenizer, and the tokens it has for the task.

    Raises ModelError for a tokenizer that is not WordPiece, or has too few unused pieces.
    """
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    values = json.loads(bert_tokenizer.backend_tokenizer.to_str())
    if values["model"]["type"] != "WordPiece" or any(token not in values["model"]["vocab"] for token in _SPECIAL):
        raise ModelError(
            f"a {values['model']['type']} tokenizer", expected="a BERT's WordPiece with [CLS]", fix="name a BERT"
        )
    vocabulary: dict[str, int] = values["model"]["vocab"]
    rows = _task_rows(vocabulary, task)
    renamed = {row.id: row.token for row in rows}
    values["model"]["vocab"] = {renamed.get(number, piece): number for piece, number in vocabulary.items()}
    values["truncation"] = values["padding"] = None
    sentinels = [row.token for row in rows if row.token.startswith("<extra_id_")]
    own_tokens = [row.token for row in rows if row.token not in set(sentinels)]
    values["added_tokens"] = [_added(token, vocabulary.get(token, -1), special=True) for token in _SPECIAL] + [
        _added(row.token, row.id, special=row.token in set(sentinels)) for row in rows
    ]
    values["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
        "pair": [
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            {"Sequence": {"id": "B", "type_id": 0}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
        ],
        "special_tokens": {"[SEP]": {"id": "[SEP]", "ids": [vocabulary["[SEP]"]], "tokens": ["[SEP]"]}},
    }
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(values)),
        pad_token="[PAD]",
        eos_token="[SEP]",
        unk_token="[UNK]",
        additional_special_tokens=sentinels,
        model_max_length=task.max_tokens,
    )
    tokenizer.add_tokens(own_tokens)
    return tokenizer, rows


def _task_rows(vocabulary: dict[str, int], task: TaskConfig) -> list[TaskRow]:
    free = sorted(number for piece, number in vocabulary.items() if _UNUSED.fullmatch(piece))
    wanted = list(_wanted(task))
    if len(free) < len(wanted):
        raise ModelError(
            f"a vocabulary with {len(free)} unused pieces",
            expected=f"{len(wanted)} of them, as BERT's have",
            fix="name another BERT",
        )
    return [TaskRow(token, number, like) for (token, like), number in zip(wanted, free, strict=False)]


def _wanted(task: TaskConfig) -> Iterator[tuple[str, str]]:
    """The task's tokens, each with the token whose embedding it starts from."""
    for style in task.styles:
        yield style_token(style), "[CLS]"
    for mark in task.slot_marks:
        yield mark_token(mark), mark
    for token in CASE_TOKENS.values():
        yield token, "the"
    for number in range(N_SENTINELS):
        yield f"<extra_id_{number}>", "[MASK]"


def _added(token: str, number: int, *, special: bool) -> dict[str, Any]:
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": number, "content": token, "special": special, **plain}
