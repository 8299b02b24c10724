"""A folder -> a tokenizer, by the library `tokenizers` alone.

In: a model's folder.  Out: a `PieceTokenizer`, which has what `tokenization` needs of a tokenizer of transformers,
under the same names; or None for a folder whose tokenizer transformers makes of other files than `tokenizer.json`.

`read_tokenizer(folder).encode("we know")` gives the ids of the pieces.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tokenizers import Tokenizer

FILE, CONFIG_FILE = "tokenizer.json", "tokenizer_config.json"
# classes of transformers that take the file as it is; others build a tokenizer from its vocabulary
_PLAIN_CLASSES = ("TokenizersBackend", "PreTrainedTokenizerFast")
_ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_MORE = ("extra_special_tokens", "additional_special_tokens")


class PieceTokenizer:
    """The pieces of a vocabulary."""

    def __init__(self, pieces: Tokenizer, special: Mapping[str, str], more: Iterable[str] = ()) -> None:
        """`special`: tokens by their roles; `more`: further tokens that are no text.

        Raises KeyError for one that the vocabulary does not have.
        """
        self._pieces = pieces
        tokens = dict.fromkeys([*special.values(), *more])
        ids = {token: pieces.token_to_id(token) for token in tokens}
        if None in ids.values():
            raise KeyError([token for token, number in ids.items() if number is None])
        self.pad_token_id, self.eos_token_id, self.unk_token_id = (
            ids.get(special.get(role, "")) for role in ("pad_token", "eos_token", "unk_token")
        )
        self.all_special_ids = list(dict.fromkeys(ids.values()))

    def __len__(self) -> int:
        return int(self._pieces.get_vocab_size(with_added_tokens=True))

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """Return the ids of a text's pieces."""
        return list(self._pieces.encode(text, add_special_tokens=add_special_tokens).ids)

    def decode(
        self, ids: Sequence[int], *, skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool = False
    ) -> str:
        """Return the text of ids; spaces are never cleaned up."""
        return str(self._pieces.decode(list(ids), skip_special_tokens=skip_special_tokens))

    def convert_tokens_to_ids(self, token: str) -> int | None:
        """Return the id of a piece; that of the unknown piece, or None, if there is no such piece."""
        number = self._pieces.token_to_id(token)
        return self.unk_token_id if number is None else int(number)

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the pieces of ids."""
        return [str(self._pieces.id_to_token(number)) for number in ids]

    def get_vocab(self) -> dict[str, int]:
        """Return all pieces and their ids."""
        return dict(self._pieces.get_vocab(with_added_tokens=True))


def read_tokenizer(folder: Path) -> PieceTokenizer | None:
    """Return a folder's tokenizer; None where transformers has to read it, or to say what is wrong with it."""
    try:
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        if config["tokenizer_class"] not in _PLAIN_CLASSES or config.get("add_prefix_space"):
            return None
        special = {role: config[role] for role in _ROLES if config.get(role)}
        more = [token for name in _MORE for token in config.get(name) or ()]
        # a config has a token by itself or with its properties
        special = {role: token if isinstance(token, str) else str(token["content"]) for role, token in special.items()}
        more = [token if isinstance(token, str) else str(token["content"]) for token in more]
        pieces = Tokenizer.from_file(str(folder / FILE))
        if pieces.truncation or pieces.padding:
            return None
        return PieceTokenizer(pieces, special, more)
    except Exception:  # tokenizers has no class of its own for damaged files
        return None
