"""One canonical tokenisation: the tokens of a text are the tokens of its parts in a row."""

from typing import Any

import pytest
from hypothesis import given
from strategies import any_word, tricky_words
from transformers import ByT5Tokenizer

from t5punct.errors import ConfigError, ModelError
from t5punct.model import Model
from t5punct.t5.task import TaskConfig
from t5punct.t5.tokenization import TaskTokenizer


@given(any_word | tricky_words)
def test_every_word_has_tokens_and_no_end(tiny_model: Model, bytes_tokenizer: TaskTokenizer, word: str) -> None:
    for tokenizer in (tiny_model.tokenizer, bytes_tokenizer):
        for first in (True, False):
            ids = tokenizer.word_ids(word, first=first)
            assert ids and tokenizer.eos_id not in ids


def test_a_data_set_text_gives_the_tokens_that_decoding_offers_which_read_back_as_the_text(tiny_model: Model) -> None:
    tokenizer, text = tiny_model.tokenizer, "Well, what?! I know - right..."
    target = tokenizer.encode_target(text)
    assert target == tokenizer.target(["Well", "what", "I", "know", "right"], [",", "?!", "", "-", "..."])
    assert tokenizer.decode(target) == text


def test_the_source_says_where_each_word_ends_with_a_prefix_and_without(tiny_model: Model) -> None:
    tokenizer = tiny_model.tokenizer
    source = tokenizer.source(["well", "know", "xylophone"], "talk")
    start = len(tokenizer.word_ids("talk:", first=True))
    for word, end in zip(["well", "know", "xylophone"], source.word_ends, strict=True):
        assert source.ids[start : end + 1] == tokenizer.word_ids(word)
        start = end + 1
    assert source.ids[start:] == (tokenizer.eos_id,)
    tokenizer = TaskTokenizer(tiny_model.tokenizer.tokenizer, TaskConfig(prefix=""))
    assert tokenizer.source(["know"]).ids == (*tokenizer.word_ids("know", first=True), tokenizer.eos_id)
    with pytest.raises(ConfigError, match="style 'opera'; expected one of talk, meeting, prose, chat"):
        tokenizer.source(["know"], "opera")


class _Gluing:
    """A tokenizer that makes one piece of every text, as some BPE vocabularies do with `a,`."""

    pad_token_id, eos_token_id, unk_token_id = 0, 1, None

    all_special_ids: tuple[int, ...] = ()

    def convert_tokens_to_ids(self, token: str) -> None:
        return None

    def encode(self, text: str, **_: Any) -> list[int]:
        return [] if text == "lost" else [hash(text) % 1000 + 2]


def test_a_tokenizer_that_glues_marks_to_words_or_has_no_end_is_refused_and_a_dropped_word_has_a_token() -> None:
    glued: Any = _Gluing()
    with pytest.raises(ModelError, match="as one piece"):
        _ = TaskTokenizer(glued, TaskConfig()).mark_ids
    assert TaskTokenizer(glued, TaskConfig()).word_ids("lost", first=True) == (1,)
    glued.eos_token_id = None
    with pytest.raises(ModelError, match="without pad or end token"):
        TaskTokenizer(glued, TaskConfig())


@pytest.mark.parametrize(("values", "found"), [
    ({"prefix": "{foo}: "}, r"prefix '{foo}: '; expected text, with or without {style} in it; correct the prefix"),
    ({"prefix": "{0}"}, "prefix '{0}'"), ({"prefix": "{style"}, "prefix '{style'"),
    ({"prefix": "{style.foo}"}, "prefix '{style.foo}'"),
    ({"default_style": "opera"}, "default_style 'opera'; expected one of talk, meeting, prose, chat"),
    ({"marks": "ab"}, "marks 'ab'; expected distinct symbols"),
    ({"max_marks": 0}, "max_marks 0; expected 1 or more"),
    ({"style_max_marks": {"opera": 1}}, "style_max_marks opera: 1; expected some of talk, .*, each with 1 to 3"),
    ({"style_max_marks": {"talk": 4}}, "style_max_marks talk: 4"),
    ({"style_max_marks": {"talk": 0}}, "style_max_marks talk: 0"),
])  # fmt: skip
def test_a_task_that_cannot_be_written_is_refused(values: dict[str, Any], found: str) -> None:
    with pytest.raises(ConfigError, match=found):
        TaskConfig(**values)


@pytest.fixture(scope="module")
def bytes_tokenizer() -> TaskTokenizer:
    """Another family: one token a byte, and the space before a word is one of them."""
    return TaskTokenizer(ByT5Tokenizer(), TaskConfig())


def byte_ids(text: str) -> tuple[int, ...]:
    return tuple(3 + byte for byte in text.encode())  # after pad, end and unknown (Xue 2022)


def test_bytes_are_tokens_as_well(bytes_tokenizer: TaskTokenizer) -> None:
    text = "Well, naïve?! I know - right..."
    assert bytes_tokenizer.encode_target(text) == (*byte_ids(text), 1)
    assert bytes_tokenizer.decode(bytes_tokenizer.encode_target(text)) == text
    source = bytes_tokenizer.source(["naïve", "iphone"], "chat")
    assert source.ids == (*byte_ids("chat: naïve iphone"), 1)
    assert source.word_ends == (len("chat: nai¨ve") - 1, len(source.ids) - 2)


def test_a_silence_is_a_token_behind_its_word_where_the_task_has_one(tiny_model: Model) -> None:
    words, silent = ["we", "know", "that"], [False, True, False]
    plain = tiny_model.tokenizer
    assert plain.source(words, pauses=silent) == plain.source(words)
    hearing = TaskTokenizer(plain.tokenizer, TaskConfig(pause_ms=280))
    assert hearing.source(words) == plain.source(words)
    heard, without = hearing.source(words, pauses=silent), plain.source(words)
    place = without.word_ends[1] + 1
    assert heard.ids == (*without.ids[:place], hearing.pause_ids[0], *without.ids[place:])
    assert heard.word_ends == (*without.word_ends[:2], without.word_ends[2] + 1)
    asked = hearing.source(words, asked=1, pauses=silent).ids
    assert asked == (*without.ids[:place], hearing.sentinel_id, hearing.pause_ids[0], *without.ids[place:])
    assert hearing.pause_ids[0] != hearing.sentinel_id
    with pytest.raises(ConfigError, match="pause_ms 0"):
        TaskConfig(pause_ms=0)
