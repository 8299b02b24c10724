"""A T5 with random weights: its vocabulary round-trips any text, and a run begins with it."""

from pathlib import Path
from typing import Any

import pytest
from from_scratch import main, train_tokenizer
from transformers import AutoTokenizer

from t5punct import model as models
from t5punct.errors import ConfigError, InputError


@pytest.fixture(scope="module")
def tokenizer(tiny_tokenizer_folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(str(tiny_tokenizer_folder))


def test_the_folder_is_a_t5_tokenizer_with_all_sentinels_as_single_tokens_at_the_end(tokenizer: Any) -> None:
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id) == (0, 1, 2)
    assert tokenizer("we know").input_ids[-1] == 1
    assert len(tokenizer) <= 500
    sentinels = [f"<extra_id_{index}>" for index in range(100)]
    ids = tokenizer.convert_tokens_to_ids(sentinels)
    assert ids == list(range(len(tokenizer) - 1, len(tokenizer) - 101, -1))  # <extra_id_0> is the last, as in T5
    assert tokenizer.encode("we <extra_id_7> know", add_special_tokens=False).count(ids[7]) == 1
    for mark in ",.?!:;":
        assert tokenizer.convert_ids_to_tokens(tokenizer.encode(f"we{mark}", add_special_tokens=False))[-1] == mark


def test_too_small_a_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a vocabulary of 150 pieces cannot be learned .*--pieces"):
        train_tokenizer(["we know"] * 20, tmp_path, 150)


def test_main__model_that_a_run_begins_with(tiny_data: Path, tmp_path: Path) -> None:
    main([str(tiny_data), str(tmp_path / "start"), "--pieces", "450", "d_model=32", "num_layers=1"])
    model = models.load(tmp_path / "start")
    assert len(model.tokenizer.tokenizer) <= 450 and model.network.config.d_model == 32
    with pytest.raises(ConfigError, match="unknown setting 'd_modle'"):
        main([str(tiny_data), str(tmp_path / "other"), "d_modle=32"])
