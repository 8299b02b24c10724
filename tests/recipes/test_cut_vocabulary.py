"""A vocabulary cut to the pieces that a text needs: the same words, the same embeddings, nothing unknown; and back."""

from collections import Counter
from pathlib import Path

import pytest
import torch
from cut_vocabulary import add_pieces, count_chunk_words, cut_encoder, cut_pieces, main
from from_encoder import from_encoder
from tiny import tiny_text
from tiny_encoders import FAMILIES, save_tiny_encoder, train_tiny_tokenizer
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import Unigram
from transformers import AutoModel, AutoTokenizer

from t5punct import model as models
from t5punct.errors import ConfigError

VOCABULARY = [
    ("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁Haus", -5.0), ("▁haus", -9.0),
    ("▁Baum", -5.0), ("▁BAUM", -7.0), ("▁we", -4.0), ("▁know", -4.5), ("▁Ye", -6.0), ("▁Know", -2.0),
    *((letter, -8.0) for letter in "abehkmnoswuxyzßжѾ家A"),
]  # fmt: skip
WORDS = Counter({"haus": 5, "baum": 4, "we": 9, "know": 7, "yes": 2})


def tokenizer_of(vocabulary: list[tuple[str, float]]) -> Tokenizer:
    """A tokenizer as XLM-R's."""
    tokenizer = Tokenizer(Unigram(vocabulary, unk_id=3))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens([piece for piece, _ in vocabulary[:4]])
    return tokenizer


def pieces_of(tokenizer: Tokenizer, text: str) -> list[str]:
    return list(tokenizer.encode(text, add_special_tokens=False).tokens)


def test_frequent_pieces_and_letters_stay_and_a_capital_becomes_its_lower_case_word() -> None:
    cut = cut_pieces(tokenizer_of(VOCABULARY), WORDS, 27)
    assert pieces_of(cut.tokenizer, "we know") == ["▁we", "▁know"]
    assert pieces_of(cut.tokenizer, "ж") == ["▁", "ж"]
    assert "家" not in cut.tokenizer.get_vocab(), "East Asian characters go"
    assert "A" not in cut.tokenizer.get_vocab(), "no piece has a capital"
    assert cut.tokenizer.get_vocab_size() == len(cut.rows) == 27
    with pytest.raises(ConfigError, match=r"pieces 10; expected 2\d or more: all letters"):
        cut_pieces(tokenizer_of(VOCABULARY), WORDS, 10)
    with pytest.raises(ConfigError, match="of the kind WordPiece; expected an encoder with a Unigram"):
        cut_pieces(train_tiny_tokenizer("bert").backend_tokenizer, WORDS, 100)
    rows = {piece: row for row, (piece, _) in enumerate(VOCABULARY)}
    cut = cut_pieces(tokenizer_of(VOCABULARY), WORDS, 99)
    row_of = {piece: cut.rows[place] for piece, place in cut.tokenizer.get_vocab().items()}
    assert row_of["▁baum"] == rows["▁Baum"], "the likelier of ▁Baum and ▁BAUM"
    assert row_of["▁haus"] == rows["▁haus"]
    assert "▁Haus" not in row_of
    assert row_of["▁know"] == rows["▁know"]
    assert row_of["<unk>"] == 3
    assert row_of["z"] == rows["z"]
    assert pieces_of(cut.tokenizer, "Baum HAUS") == ["▁baum", "▁haus"]


def test_pieces_that_other_words_need_come_back_behind_the_old_ones() -> None:
    whole = tokenizer_of(VOCABULARY)
    cut = cut_pieces(whole, Counter({"we": 9}), 25).tokenizer
    assert pieces_of(cut, "we baum") == ["▁we", "▁", *"baum"]
    more = add_pieces(cut, whole, Counter({"baum": 2, "haus": 1, "we": 3}), 1)
    assert pieces_of(more.tokenizer, "we Baum haus") == ["▁we", "▁baum", "▁", *"haus"]
    assert more.rows == (VOCABULARY.index(("▁Baum", -5.0)),)
    assert {**more.tokenizer.get_vocab(), **cut.get_vocab()} == more.tokenizer.get_vocab(), "the old ones stay in place"
    # 5 + 5 + 1 pieces for a word of each; 25 is one more than the letters, special tokens, ▁ and ▁we are
    assert more.report == (
        f"{cut.get_vocab_size()} pieces and 1 more; {(2 + 5 + 3) / 6:.3f} pieces a word ({(10 + 5 + 3) / 6:.3f} "
        "before, 1.000 with all), 0 of 6 words with an unknown piece"
    )
    assert add_pieces(cut, whole, Counter({"we": 1}), 9).rows == (), "no piece comes that no word needs"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_encoder(tmp_path_factory.mktemp("hub") / "xlm-roberta", "xlm-roberta")


def test_what_the_encoder_says_of_a_text_stays(folder: Path, tmp_path: Path) -> None:
    text = " ".join(tiny_text(20, seed=4)).lower().replace(",", "").replace(".", "").replace("?", "")
    cut_encoder(folder, Counter(text.split()), 200, tmp_path / "cut")
    begun = from_encoder(tmp_path / "cut")
    whole, own = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    assert isinstance(own, FAMILIES["xlm-roberta"].network)  # type: ignore[arg-type]
    n_compared = 0
    for word in dict.fromkeys(text.split()):
        mine, theirs = begun.tokenizer.word_ids(word), whole.encode(word, add_special_tokens=False)
        names = begun.tokenizer.tokenizer.convert_ids_to_tokens(list(mine))
        if names != whole.convert_ids_to_tokens(theirs):
            continue  # a piece that had a capital, or was cut
        n_compared += 1
        with torch.no_grad():
            expected = own(input_ids=torch.tensor([theirs])).last_hidden_state
            states = begun.encode(torch.tensor([mine]), torch.ones(1, len(mine), dtype=torch.long))
        assert torch.allclose(states, expected, atol=1e-5), word
    assert n_compared > 10
    assert begun.network.config.vocab_size < 230


def test_main__encoder_then_model_with_pieces_for_other_words(folder: Path, tiny_data: Path, tmp_path: Path) -> None:
    main([str(folder), str(tiny_data), str(tmp_path / "cut"), "--pieces", "70"])
    few, words = from_encoder(tmp_path / "cut"), count_chunk_words(str(tiny_data))
    assert all(few.tokenizer.tokenizer.unk_token_id not in few.tokenizer.word_ids(word) for word in words)
    models.save(few, tmp_path / "model")
    main([str(folder), str(tiny_data), str(tmp_path / "grown"), "--pieces", "30", "--model", str(tmp_path / "model")])
    grown = models.load(tmp_path / "grown")
    n_before, n_after = (sum(len(model.tokenizer.word_ids(word)) for word in words) for model in (few, grown))
    assert n_after < n_before, "words are read in fewer pieces"
    old, new = few.tokenizer.tokenizer.get_vocab(), grown.tokenizer.tokenizer.get_vocab()
    assert old.keys() < new.keys() and len(new) == grown.network.config.vocab_size <= len(old) + 30
    before, after = (model.network.shared.weight.detach() for model in (few, grown))
    assert all(torch.equal(after[new[piece]], before[old[piece]]) for piece in old)
    whole = AutoTokenizer.from_pretrained(folder).get_vocab()
    theirs = AutoModel.from_pretrained(folder).get_input_embeddings().weight.detach()
    same = [torch.equal(after[new[piece]], theirs[whole[piece]]) for piece in new.keys() - old.keys() if piece in whole]
    assert same and all(same)
    ids = torch.tensor([few.tokenizer.word_ids("so")])
    assert torch.equal(*(model.encode(ids, torch.ones_like(ids)) for model in (few, grown)))
